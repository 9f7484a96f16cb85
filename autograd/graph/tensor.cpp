#include "autograd/graph/tensor.h"

namespace heed {

void detail::throw_no_backward(const char* op) {
  fail<GraphError>(op, ": has no backward, but an input requires a gradient; detach() it or run ",
                   "under NoGrad");
}

Node& Grads::throw_unneeded(size_t k) {
  fail<GraphError>("expected gradients for inputs that require one, got one for input ", k,
                   "; add it only if grads.needs(", k, ")");
}

}  // namespace heed
