#include "autograd/graph/tensor.h"

namespace heed {

void detail::throw_no_backward(const char* op) {
  fail<GraphError>(op, ": has no backward, but an input requires a gradient; detach() it or run ",
                   "under NoGrad");
}

}  // namespace heed
