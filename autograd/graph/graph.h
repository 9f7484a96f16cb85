// The graph behind Tensor: who made a value, from what, and how gradients go back.
//
// A node knows its inputs and is owned by its outputs, so a graph lives as long as a result of it.
// Numbers grow with creation and inputs exist before outputs: running the reachable nodes by
// descending number is a valid order, with no recursion and no sorting by depth. A node's saved
// values are released as soon as it has run.
#pragma once

#include <new>
#include <span>
#include <utility>
#include <vector>

#include "autograd/array/array.h"
#include "autograd/threads/grain.h"
#include "autograd/threads/parallel.h"

namespace heed {

class Grads;
class Node;

// Owns one reference to a Node, or none. The count is not atomic.
class NodeRef {
 public:
  NodeRef() = default;
  explicit NodeRef(Node* adopted) : node_(adopted) {}
  NodeRef(const NodeRef& other);
  NodeRef(NodeRef&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  NodeRef& operator=(NodeRef other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~NodeRef();

  Node* get() const { return node_; }
  Node* operator->() const { return node_; }
  explicit operator bool() const { return node_ != nullptr; }

 private:
  Node* node_ = nullptr;
};

// One operation, or a leaf (no backward) that gathers a gradient. Lives in a single block together
// with its inputs and the closure of its backward.
class Node {
 public:
  // How to call and to destroy a closure whose type has been forgotten.
  struct Closure {
    void (*run)(void* closure, const Array& dy, Grads& grads);
    void (*destroy)(void* closure) noexcept;
  };

  static NodeRef leaf(const Shape& shape);

  // Whoever calls this calls set_input for each input at once: clearing them first cost a chain of
  // small operations a tenth of its time.
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
  const char* layer_path() const { return layer_path_; }  // where it was made, "" outside layers
  const Shape& shape() const { return shape_; }
  uint64_t number() const { return number_; }
  bool is_leaf() const { return input_count_ == 0; }
  void set_input(size_t k, const NodeRef& input) { new (inputs().data() + k) NodeRef(input); }
  std::span<NodeRef> inputs() { return {reinterpret_cast<NodeRef*>(this + 1), input_count_}; }

  // d(root)/d(this value), or no array while nothing has been added.
  Array gradient;

 private:
  friend class NodeRef;
  friend class Grads;
  friend class BackwardPass;

  static Node* allocate(const char* op, const Shape& shape, size_t inputs, size_t closure_bytes);
  static void destroy_chain(Node* dead) noexcept;
  void release_saved() noexcept;  // the closure and the inputs; afterwards the node has "run"
  void* closure() { return reinterpret_cast<std::byte*>(this) + closure_offset(input_count_); }
  static size_t closure_offset(size_t inputs);

  uint32_t refs_ = 1;
  uint32_t size_class_ = 0;
  uint32_t input_count_ = 0;
  bool released_ = false;
  uint64_t number_ = 0;
  uint64_t visit_ = 0;  // the backward pass that collected this node last
  const char* op_ = "leaf";
  const char* layer_path_ = "";
  const Closure* functions_ = nullptr;
  Node* next_dead_ = nullptr;
  Shape shape_;
};

inline NodeRef::NodeRef(const NodeRef& other) : node_(other.node_) {
  if (node_ != nullptr) {
    ++node_->refs_;
  }
}

inline NodeRef::~NodeRef() {
  if (node_ != nullptr && --node_->refs_ == 0) {
    Node::destroy_chain(node_);
  }
}

// How many nodes exist; 0 after every handle to a graph is gone.
int64_t live_nodes();

// Where a backward function puts the gradients of its inputs. The first contribution is stored,
// later ones are added; what was broadcast in the forward pass is summed back here and nowhere
// else.
class Grads {
 public:
  explicit Grads(Node& node) : inputs_(node.inputs()) {}

  // Whether anyone wants the gradient of input k; if not, its computation can be left out.
  bool needs(size_t k) const { return static_cast<bool>(inputs_[k]); }

  // Where d(input k) goes: `add` says whether to add to what is there or to store over it.
  // A matrix product takes it as its beta.
  struct Target {
    real* data;
    bool add;
    real beta() const { return add ? real{1} : real{0}; }
  };
  Target target(size_t k);

  // g has the shape of the output or of the input; it is summed over what was broadcast. The
  // buffer is taken over when nobody else holds it.
  void add(size_t k, Array g);

  // Element i of d(input k) is f(i), for an input that was not broadcast.
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

  // Calls row(r, put) for every row of d(input k); put(i, v) stores or adds element i of the row.
  template <class Row>
  void emit_rows(size_t k, Rows rows, Row&& row) {
    const Target to = target(k);
    parallel_for(rows.count, row_grain(rows.width), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        real* out = to.data + r * rows.width;
        if (to.add) {
          row(r, [out](int64_t i, real v) { out[i] += v; });
        } else {
          row(r, [out](int64_t i, real v) { out[i] = v; });
        }
      }
    });
  }

 private:
  std::span<NodeRef> inputs_;
};

// d(root)/d(leaf) is added to the gradient of every leaf that root depends on. `cotangent` is
// d(anything)/d(root), of root's shape. The graph is freed on the way: a second pass throws.
void run_backward(const NodeRef& root, Array cotangent);

// While one exists, operations record no graph.
class NoGrad {
 public:
  NoGrad() : before_(std::exchange(recording_, false)) {}
  ~NoGrad() { recording_ = before_; }
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

  static bool recording() { return recording_; }

 private:
  static inline thread_local bool recording_ = true;
  bool before_;
};

// Names the layer that the operations within belong to, for errors, profiles and pictures of the
// graph. `path` must outlive every node made meanwhile (see intern in layers/module/module.h).
class LayerScope {
 public:
  explicit LayerScope(const char* path) : before_(std::exchange(path_, path)) {}
  ~LayerScope() { path_ = before_; }
  LayerScope(const LayerScope&) = delete;
  LayerScope& operator=(const LayerScope&) = delete;

  static const char* current() { return path_; }

 private:
  static inline thread_local const char* path_ = "";
  const char* before_;
};

}  // namespace heed
