#include "autograd/kernels/choice.h"

#include <cstdlib>
#include <string>
#include <string_view>

#include "autograd/base/error.h"
#include "autograd/kernels/blas_info.h"
#include "autograd/kernels/openblas.h"
#include "autograd/kernels/tiled_attention.h"

namespace heed::detail {

// Defined in the sub-folders, whose headers this folder does not include: it works without them.
// HEED_OWN_KERNELS lists those of this build in order of preference: vector_512, vector_256, ...
#ifdef HEED_OWN_KERNELS
HEED_IN_LIBRARY extern const KernelEntry HEED_OWN_KERNELS;
#endif

namespace {

[[noreturn]] void refuse(std::string_view wish) {
  bool known = false;
  std::string available;
  for (const KernelEntry& kernel : all_kernels()) {
    known = known || kernel.name == wish;
    if (kernel.available()) {
      available += (available.empty() ? "" : ", ") + std::string(kernel.name);
    }
  }
  fail<ConfigError>("HEED_KERNELS=", wish, known ? ": not available here" : ": not in this build",
                    "; available: ", available);
}

const KernelEntry& choose() {
  const char* variable = std::getenv("HEED_KERNELS");
  const std::string_view wish = variable == nullptr ? "" : variable;
  for (const KernelEntry& kernel : all_kernels()) {
    if ((wish.empty() || kernel.name == wish) && kernel.available()) {
      choose_blas_kernel();
      make_blas_serial();
      return kernel;
    }
  }
  refuse(wish);
}

}  // namespace

std::span<const KernelEntry> all_kernels() {
  static const KernelEntry by_preference[] = {
#ifdef HEED_OWN_KERNELS
      HEED_OWN_KERNELS,
#endif
      {"openblas", "OpenBLAS", Simd::none, &openblas_products, &tiled_attention}};
  return by_preference;
}

const KernelEntry& kernel_in_use() {
  static const KernelEntry& chosen = choose();
  return chosen;
}

}  // namespace heed::detail
