#include "autograd/graph/tensor.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace heed {

bool require_same_build(const BuildIdentity& program) noexcept {
  const bool same = std::strcmp(program.precision, precision_name) == 0 &&
                    std::strcmp(program.version, HEED_VERSION) == 0;
  if (!same) {
    std::fprintf(stderr,
                 "heedgrad: this program was compiled for heedgrad %s in %s, but the library that "
                 "was loaded is heedgrad %s in %s; link the library of the program's precision\n",
                 program.version, program.precision, HEED_VERSION, precision_name);
    std::_Exit(1);
  }
  return same;
}

void detail::throw_no_backward(const char* op) {
  fail<GraphError>(op, ": has no backward, but an input requires a gradient; detach() it or run ",
                   "under NoGrad");
}

}  // namespace heed
