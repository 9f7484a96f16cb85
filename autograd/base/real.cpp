#include "autograd/base/real.h"

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

}  // namespace heed
