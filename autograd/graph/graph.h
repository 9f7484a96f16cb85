// The graph (the tape) behind Tensor: the operation that made a value, the inputs of that operation
// and its backward.
//
//   x ---> [multiply] ---> [sum] ---> loss      forward: each result owns the node that made it
//   w --->                                      a node owns the nodes of its inputs
//
// A node is owned by its outputs, so a graph lives as long as any result of it. Each thread numbers
// its nodes in the order of creation, so a node has a larger number than its inputs. Running the
// reachable nodes by descending number is therefore a valid backward order: no topological sort is
// needed. What a node saved for its backward is released as soon as that backward has run.
#pragma once

#include <span>
#include <utility>

#include "autograd/array/array.h"
#include "autograd/threads/parallel.h"

namespace heed {

class Grads;
class Node;
using NodeRef = Ref<Node>;

// One operation, or a leaf: a parameter, which has no backward and accumulates a gradient. A node
// is a single block of memory:
//   Node | NodeRef of each input | padding to 16 bytes | closure of the backward
class Node {
 public:
  // Calls and destroys a closure whose type only Node::make knows (type erasure).
  struct Closure {
    void (*run)(void* closure, const Array& dy, Grads& grads);
    void (*destroy)(void* closure) noexcept;
  };

  static NodeRef leaf(const Shape& shape);

  // The inputs are left uninitialised: the caller must call set_input for each of them immediately.
  // (Clearing them first made a chain of small operations 10% slower.)
  template <class Backward>
  static NodeRef make(const char* op, const Shape& shape, size_t inputs, Backward&& backward) {
    using Stored = std::decay_t<Backward>;
    static constexpr Closure functions{
        [](void* closure, const Array& dy, Grads& grads) {
          (*static_cast<Stored*>(closure))(dy, grads);
        },
        [](void* closure) noexcept { static_cast<Stored*>(closure)->~Stored(); }};
    static_assert(alignof(Stored) <= 16);
    Node* node = allocate(op, shape, inputs, sizeof(Stored));
    new (node->closure()) Stored(std::forward<Backward>(backward));
    node->functions_ = &functions;
    return NodeRef(node);
  }

  const char* op() const { return op_; }                  // "leaf" for a leaf
  const char* layer_path() const { return layer_path_; }  // "trf_blocks.0.att"; see layer_scope.h
  const Shape& shape() const { return shape_; }
  uint64_t number() const { return number_; }
  bool is_leaf() const { return input_count_ == 0; }
  void set_input(size_t k, const NodeRef& input) {
    new (inputs().data() + k) NodeRef(input);
    if (input && input->number_ >= number_) [[unlikely]]
      renumber_after(*input.get());
  }
  std::span<NodeRef> inputs() { return {reinterpret_cast<NodeRef*>(this + 1), input_count_}; }

  // d(root)/d(value of this node); empty until the first contribution.
  Array gradient;
  // Adds g, of this shape, to the gradient. The first g is kept without a copy; only a leaf, whose
  // gradient outlives the pass, copies a g whose buffer is shared.
  void add_gradient(Array&& g) {
    if (gradient) {
      add_to_gradient(g);
    } else if (is_leaf() && !g.unique()) {
      gradient = g.clone();
    } else {
      gradient = std::move(g);
    }
  }
  uint32_t refs = 1;                         // for NodeRef
  static void destroy(Node* dead) noexcept;  // for NodeRef

  // The buffer of a gradient, and whether to add to its elements or to overwrite them.
  struct Target {
    real* data = nullptr;
    bool add = false;
  };
  Target gradient_target();

 private:
  friend class BackwardPass;

  static Node* allocate(const char* op, const Shape& shape, size_t inputs, size_t closure_bytes);
  // For an input that another thread made: this node needs a larger number.
  void renumber_after(const Node& input);
  void add_to_gradient(const Array& g);
  void release_saved() noexcept;  // destroys the closure and drops the inputs
  void* closure() { return reinterpret_cast<std::byte*>(this) + closure_offset(input_count_); }
  static size_t closure_offset(size_t inputs);

  uint32_t size_class_ = 0;
  uint32_t input_count_ = 0;
  bool released_ = false;  // by release_saved: no backward can run through this node again
  uint64_t number_ = 0;
  uint64_t visit_ = 0;  // number of the last backward pass that collected this node
  const char* op_ = "leaf";
  const char* layer_path_ = "";
  const Closure* functions_ = nullptr;
  Node* next_dead_ = nullptr;
  Shape shape_;
};

// The number of nodes that this thread made and has not destroyed: 0 once every handle to a graph
// is gone.
int64_t live_nodes();

// Takes the gradients that a backward computes for the inputs of its node. The first contribution
// to an input is stored, later ones are added. Only add() undoes broadcasting.
class Grads {
 public:
  explicit Grads(Node& node) : inputs_(node.inputs()) {}

  // False if input k requires no gradient. The backward must not pass one then.
  bool needs(size_t k) const { return k < inputs_.size() && inputs_[k]; }

  // The buffer of d(input k).
  using Target = Node::Target;
  Target target(size_t k) { return input(k).gradient_target(); }
  Target target_if_needed(size_t k) { return needs(k) ? target(k) : Target{}; }  // else null

  // Adds g to d(input k). g has the shape of the input, or the shape that the input was broadcast
  // to; then it is summed over the axes that broadcasting added or stretched.
  void add(size_t k, Array g);

  // Adds f(i) to element i of d(input k), for an input that was not broadcast.
  template <class F>
  void emit(size_t k, F&& f) {
    const Target to = target(k);
    parallel_for(inputs_[k]->shape().size(), elementwise_grain, [&](int64_t begin, int64_t end) {
      if (to.add) {
        for (int64_t i = begin; i < end; ++i) to.data[i] += f(i);
      } else {
        for (int64_t i = begin; i < end; ++i) to.data[i] = f(i);
      }
    });
  }

  // Calls row(r, put) for every row of d(input k); row calls put(i, v) once for each element i.
  template <class Row>
  void emit_rows(size_t k, Rows rows, Row&& row) {
    const Target to = target(k);
    parallel_rows(rows.count, rows.width, [&](int64_t r) {
      real* out = to.data + r * rows.width;
      if (to.add) {
        row(r, [out](int64_t i, real v) { out[i] += v; });
      } else {
        row(r, [out](int64_t i, real v) { out[i] = v; });
      }
    });
  }

 private:
  Node& input(size_t k) const { return needs(k) ? *inputs_[k].get() : throw_unneeded(k); }
  [[noreturn]] static Node& throw_unneeded(size_t k);

  std::span<NodeRef> inputs_;
};

// Adds d(loss)/d(leaf) to the gradient of every leaf that root depends on, given the cotangent
// d(loss)/d(root), of root's shape. Frees the graph on the way, even if a backward throws: a second
// pass throws GraphError. The pass stops at the nodes in `ends`: like leaves, they receive their
// gradient and do not run.
void run_backward(const NodeRef& root, Array cotangent, std::span<const NodeRef> ends = {});

// While one exists, operations of its thread record no graph. They need not be nested.
class NoGrad {
 public:
  NoGrad() { ++alive_; }
  ~NoGrad() { --alive_; }
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

  static bool recording() { return alive_ == 0; }

 private:
  HEED_ONE_PER_THREAD static inline thread_local int alive_ = 0;  // see autograd/base/modes.h
};

}  // namespace heed
