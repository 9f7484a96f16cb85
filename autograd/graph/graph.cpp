#include "autograd/graph/graph.h"

#include <algorithm>
#include <atomic>

#include "autograd/array/reduce.h"
#include "autograd/graph/graph_observer.h"

namespace heed {

namespace {

// The nodes of a thread.
struct Nodes {
  uint64_t last_number = 0;
  int64_t existing = 0;
  Node* dead = nullptr;  // unreferenced, not destroyed yet; a list through next_dead_
  bool burying = false;  // the loop in destroy is running
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Nodes own_nodes;

std::atomic<uint64_t> backward_passes{0};  // of all threads: a pass may meet nodes of another one

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

void Node::come_after(const Node& input) { number_ = own_nodes.last_number = input.number_ + 1; }

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

// Destroying a node drops its inputs, which may then have to be destroyed too. Their destructors
// call this function again, from inside the loop below. These inner calls only put the node on the
// list of dead ones, and the outermost call works it off. Destroying them recursively would
// overflow the stack on a graph of a million nodes.
void Node::destroy(Node* dead) noexcept {
  dead->next_dead_ = std::exchange(own_nodes.dead, dead);
  if (own_nodes.burying) {
    return;
  }
  own_nodes.burying = true;
  while (own_nodes.dead != nullptr) {
    Node* node = own_nodes.dead;
    own_nodes.dead = node->next_dead_;
    node->release_saved();
    const uint32_t size_class = node->size_class_;
    node->~Node();
    pool::give(node, size_class);
    --own_nodes.existing;
  }
  own_nodes.burying = false;
}

// A gradient may share its buffer with another array: add_gradient() keeps the array it is given,
// and grad() hands it out. It is copied before anything is added to it in place.
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
// The pass holds a reference to every collected node, since release_saved() drops the one that the
// output held. A node whose gradient is still empty contributes nothing and is only released.
// Leaves keep their gradients. If a backward throws, the nodes that did not run are released all
// the same, with the gradients that already reached them: the next pass must not add to those. The
// gradients of the inputs of the one that threw may be half written, so leaves lose these too.
class BackwardPass {
 public:
  explicit BackwardPass(const NodeRef& root)
      : stack_(std::exchange(spare_stack, {})), nodes_(std::exchange(spare_nodes, {})) {
    collect(root);
    GraphObserver::each([&](GraphObserver& observer) { observer.pass_begins(nodes_); });
  }

  ~BackwardPass() {
    if (next_ < nodes_.size()) {
      abandon();
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
  void collect(const NodeRef& root) {
    const uint64_t visit = ++backward_passes;
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

  // The node next_ threw.
  void abandon() noexcept {
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

  // Empty vectors whose capacity is kept from pass to pass, so that a training step allocates none.
  // A pass takes them away; a second one that runs inside its backward starts with new ones.
  static inline thread_local std::vector<Node*> spare_stack;
  static inline thread_local std::vector<NodeRef> spare_nodes;

  std::vector<Node*> stack_;
  std::vector<NodeRef> nodes_;
  size_t next_ = 0;  // of nodes_: those before it have run
};

void run_backward(const NodeRef& root, Array cotangent) {
  require<GraphError>(static_cast<bool>(root), "backward: nothing here requires a gradient");
  require(cotangent && cotangent.shape() == root->shape(), "backward: expected a cotangent of ",
          "shape ", root->shape(), ", got ", cotangent ? text(cotangent.shape()) : "no array");
  BackwardPass pass(root);
  root->add_gradient(std::move(cotangent));
  pass.run();
}

}  // namespace heed
