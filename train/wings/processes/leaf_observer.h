// Gradients of parameters while a backward pass still runs.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "autograd/graph/graph_observer.h"

namespace heed {

// While one exists, backward passes of its thread call ready(leaf) for each leaf behind the root,
// as soon as the pass adds nothing more to its gradient. That may then be taken away, to send it
// while the pass goes on. During a pass inside another one, only leaves of the inner one are told.
class LeafObserver final : public GraphObserver {
 public:
  explicit LeafObserver(std::function<void(Node& leaf)> ready) : ready_(std::move(ready)) {}

  void pass_begins(std::span<const NodeRef> nodes) override;
  void has_run(std::span<const NodeRef> nodes, size_t k, bool reached) override;

 private:
  // The node that is the last to add to the gradient of a leaf.
  struct LastUse {
    size_t node = 0;
    Node* leaf = nullptr;
  };

  const std::function<void(Node& leaf)> ready_;
  std::span<const NodeRef> nodes_;  // of the pass that began last
  std::vector<LastUse> last_uses_;  // in it, by descending node
};

}  // namespace heed
