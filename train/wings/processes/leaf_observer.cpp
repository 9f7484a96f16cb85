#include "train/wings/processes/leaf_observer.h"

#include <unordered_set>

namespace heed {

// From the end of the pass, the first node that a leaf is an input of is the last to add to its
// gradient.
void LeafObserver::pass_begins(std::span<const NodeRef> nodes) {
  nodes_ = nodes;
  last_uses_.clear();
  std::unordered_set<const Node*> seen;
  for (size_t k = nodes.size(); k-- > 0;) {
    for (const NodeRef& input : nodes[k]->inputs()) {
      if (input && input->is_leaf() && seen.insert(input.get()).second) {
        last_uses_.push_back({k, input.get()});
      }
    }
  }
}

void LeafObserver::has_run(std::span<const NodeRef> nodes, size_t k, bool /*reached*/) {
  if (nodes.data() != nodes_.data()) {
    return;
  }
  for (; !last_uses_.empty() && last_uses_.back().node == k; last_uses_.pop_back()) {
    ready_(*last_uses_.back().leaf);
  }
}

}  // namespace heed
