#include "autograd/graph/leaf_observer.h"

#include <unordered_set>
#include <utility>

namespace heed {

namespace {
thread_local LeafObserver* observer = nullptr;
}

LeafObserver::LeafObserver(std::function<void(Node& leaf)> ready) : ready_(std::move(ready)) {
  require<GraphError>(observer == nullptr, "backward: there is a LeafObserver already");
  observer = this;
}

LeafObserver::~LeafObserver() { observer = nullptr; }

// From the end of the pass, the first node that a leaf is an input of is the last to add to its
// gradient.
void LastUses::find(std::span<const NodeRef> nodes) {
  if (observer == nullptr) {
    return;
  }
  std::unordered_set<const Node*> seen;
  for (size_t k = nodes.size(); k-- > 0;) {
    for (const NodeRef& input : nodes[k]->inputs()) {
      if (input && input->is_leaf() && seen.insert(input.get()).second) {
        uses_.push_back({k, input.get()});
      }
    }
  }
}

void LastUses::has_run(size_t k) {
  for (; !uses_.empty() && uses_.back().node == k; uses_.pop_back()) {
    observer->ready_(*uses_.back().leaf);
  }
}

}  // namespace heed
