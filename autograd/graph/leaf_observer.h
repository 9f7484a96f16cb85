// Gradients of parameters while a backward pass still runs.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "autograd/graph/graph.h"

namespace heed {

// While one exists, backward passes of its thread call ready(leaf) for each leaf behind the root,
// as soon as the pass adds nothing more to its gradient. That may then be taken away, to send it
// while the pass goes on. A thread may have one at a time.
class LeafObserver {
 public:
  explicit LeafObserver(std::function<void(Node& leaf)> ready);
  ~LeafObserver();
  LeafObserver(const LeafObserver&) = delete;
  LeafObserver& operator=(const LeafObserver&) = delete;

 private:
  friend class LastUses;
  std::function<void(Node& leaf)> ready_;
};

// For a backward pass: which node is the last to add to the gradient of which leaf.
class LastUses {
 public:
  // `nodes` in the order in which they run; they must outlive this. Does nothing without observer.
  void find(std::span<const NodeRef> nodes);
  // Node k of them has run.
  void has_run(size_t k);

 private:
  struct Use {
    size_t node = 0;
    Node* leaf = nullptr;
  };
  std::vector<Use> uses_;  // by descending node
};

}  // namespace heed
