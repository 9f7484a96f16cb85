#include "autograd/graph/graph_observer.h"

namespace heed {

GraphObserver::~GraphObserver() {
  GraphObserver** link = &first_;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
}

}  // namespace heed
