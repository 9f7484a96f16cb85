#include "autograd/graph/graph.h"

#include <algorithm>
#include <atomic>

#include "autograd/array/reduce.h"
#include "autograd/graph/graph_observer.h"
#include "autograd/graph/layer_scope.h"

namespace heed {

namespace {

// The nodes of a thread.
struct Nodes {
  uint64_t last_number = 0;
  int64_t existing = 0;
  Node* dead = nullptr;     // list through next_dead_: unreferenced nodes, not destroyed yet
  bool destroying = false;  // the loop in Node::destroy is running
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Nodes own_nodes;

// Counts the passes of all threads, since a pass may visit nodes that another thread made.
std::atomic<uint64_t> backward_passes{0};

}  // namespace

int64_t live_nodes() { return own_nodes.existing; }

size_t Node::closure_offset(size_t inputs) {
  const size_t end = sizeof(Node) + inputs * sizeof(NodeRef);
  return (end + 15) / 16 * 16;
}

Node* Node::allocate(const char* op, const Shape& shape, size_t inputs, size_t closure_bytes) {
  uint32_t size_class = 0;
  void* block = pool::take(closure_offset(inputs) + closure_bytes, size_class);
  auto* node = new (block) Node;
  node->size_class_ = size_class;
  node->input_count_ = static_cast<uint32_t>(inputs);
  node->number_ = ++own_nodes.last_number;
  node->op_ = op;
  node->layer_path_ = LayerScope::current();
  node->shape_ = shape;
  ++own_nodes.existing;
  return node;
}

void Node::renumber_after(const Node& input) {
  number_ = own_nodes.last_number = input.number_ + 1;
}

NodeRef Node::leaf(const Shape& shape) { return NodeRef(allocate("leaf", shape, 0, 0)); }

void Node::release_saved() noexcept {
  if (released_) {
    return;
  }
  released_ = true;
  if (functions_ != nullptr) {
    functions_->destroy(closure());
  }
  for (NodeRef& input : inputs()) {
    input = NodeRef();
  }
}

// Destroying a node drops its inputs, which may have to be destroyed in turn: this function is then
// called again, from inside the loop below. Such an inner call only puts the node on the list of
// dead nodes, and the loop of the outermost call destroys it. Recursion would overflow the stack on
// a graph of a million nodes.
void Node::destroy(Node* dead) noexcept {
  dead->next_dead_ = std::exchange(own_nodes.dead, dead);
  if (own_nodes.destroying) {
    return;
  }
  own_nodes.destroying = true;
  while (own_nodes.dead != nullptr) {
    Node* node = own_nodes.dead;
    own_nodes.dead = node->next_dead_;
    node->release_saved();
    const uint32_t size_class = node->size_class_;
    node->~Node();
    pool::give(node, size_class);
    --own_nodes.existing;
  }
  own_nodes.destroying = false;
}

// A gradient may share its buffer with another array, since add_gradient() keeps the array it is
// given and Tensor::grad() returns it. So it is copied before anything is added to it in place.
Node::Target Node::gradient_target() {
  if (!gradient) {
    gradient = Array::uninitialised(shape_);
    return {gradient.mutable_data(), false};
  }
  if (!gradient.unique()) {
    gradient = gradient.current().clone();
  }
  return {gradient.mutable_data(), true};
}

void Node::add_to_gradient(const Array& g) {
  real* const to = gradient_target().data;
  const real* const from = g.data();
  parallel_for(shape_.size(), elementwise_grain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] += from[i];
  });
}

void Grads::add(size_t k, Array g) {
  Node& to = input(k);
  if (g.shape() != to.shape()) {
    g = sum_to(g, to.shape());
  }
  to.add_gradient(std::move(g));
}

// Reverse-mode differentiation, from the root to the leaves:
//   1. collect: a depth-first walk with an explicit stack finds every node behind the root once.
//      visit_ marks the nodes already found, so nothing has to be reset afterwards.
//   2. sort by descending number. A node then comes after every node that uses its value, so its
//      gradient is complete when its turn comes.
//   3. run: call each backward with the gradient dy of the node. It adds to the gradients of the
//      inputs. Then dy, the saved values and the node itself are released, so memory falls during
//      the pass.
// The pass holds a reference to every collected node: release_saved() drops those that a node holds
// to its inputs. A node that no gradient has reached is released without calling its backward.
//
// If a backward throws, the nodes that did not run are released, too. The gradients that have
// reached them are cleared, or the next pass would add to them. The inputs of the node that threw
// lose their gradients even if they are leaves: these may be half written.
class BackwardPass {
 public:
  BackwardPass(const NodeRef& root, std::span<const NodeRef> ends)
      : stack_(std::exchange(spare_stack, {})), nodes_(std::exchange(spare_nodes, {})) {
    collect(root, ends);
    GraphObserver::each([&](GraphObserver& observer) { observer.pass_begins(nodes_); });
  }

  ~BackwardPass() {
    if (next_ < nodes_.size()) {
      release_after_error();
    }
    nodes_.clear();
    spare_stack = std::move(stack_);
    spare_nodes = std::move(nodes_);
  }

  void run() {
    for (; next_ < nodes_.size(); ++next_) {
      NodeRef& node = nodes_[next_];
      if (!node->is_leaf()) {
        run_node(*node.get());
      }
      node = NodeRef();  // frees the node, unless a tensor still holds it
    }
  }

 private:
  void collect(const NodeRef& root, std::span<const NodeRef> ends) {
    const uint64_t visit = ++backward_passes;
    for (const NodeRef& end : ends) end->visit_ = visit;
    stack_.assign(1, root.get());
    root->visit_ = visit;
    while (!stack_.empty()) {
      Node* node = stack_.back();
      stack_.pop_back();
      require<GraphError>(!node->released_, "backward: the graph behind this ", node->op_,
                          " was already used by an earlier backward and is freed");
      ++node->refs;
      nodes_.emplace_back(node);
      for (const NodeRef& input : node->inputs()) {
        if (input && input->visit_ != visit) {
          input->visit_ = visit;
          stack_.push_back(input.get());
        }
      }
    }
    const auto later = [](const NodeRef& a, const NodeRef& b) { return a->number() > b->number(); };
    if (!std::is_sorted(nodes_.begin(), nodes_.end(), later)) {
      std::sort(nodes_.begin(), nodes_.end(), later);
    }
  }

  // The backward of node next_ threw.
  void release_after_error() noexcept {
    for (const NodeRef& input : nodes_[next_]->inputs()) {
      if (input) {
        input->gradient = Array();
      }
    }
    for (; next_ < nodes_.size(); ++next_) {
      Node& node = *nodes_[next_].get();
      if (!node.is_leaf()) {
        node.gradient = Array();
        node.release_saved();
      }
    }
  }

  void run_node(Node& node) const {
    const bool reached = static_cast<bool>(node.gradient);
    if (reached) {
      const Array dy = std::move(node.gradient);
      Grads grads(node);
      try {
        node.functions_->run(node.closure(), dy, grads);
      } catch (const GraphError& error) {
        fail<GraphError>("backward of ", node.op_, ": ", error.what());
      }
    }
    GraphObserver::each([&](GraphObserver& of) { of.has_run(nodes_, next_, reached); });
    node.release_saved();
  }

  // Empty vectors whose capacity is kept from pass to pass, so that a training step allocates no
  // memory for them. A pass takes them; another pass inside one of its backwards uses new vectors.
  static inline thread_local std::vector<Node*> spare_stack;
  static inline thread_local std::vector<NodeRef> spare_nodes;

  std::vector<Node*> stack_;
  std::vector<NodeRef> nodes_;
  size_t next_ = 0;  // the nodes before this one have run
};

void run_backward(const NodeRef& root, Array cotangent, std::span<const NodeRef> ends) {
  require<GraphError>(static_cast<bool>(root), "backward: nothing here requires a gradient");
  require(cotangent && cotangent.shape() == root->shape(), "backward: expected a cotangent of ",
          "shape ", root->shape(), ", got ", cotangent ? text(cotangent.shape()) : "no array");
  BackwardPass pass(root, ends);
  root->add_gradient(std::move(cotangent));
  pass.run();
}

}  // namespace heed
