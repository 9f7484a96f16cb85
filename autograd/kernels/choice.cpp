#include "autograd/kernels/choice.h"

#include <cstdlib>
#include <string_view>
#include <vector>

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

std::vector<KernelInUse> choose() {
  const char* variable = std::getenv("HEED_KERNELS");
  const std::string_view wish = variable == nullptr ? "" : variable;
  std::vector<KernelInUse> in_use;
  for (const KernelEntry& kernel : all_kernels()) {
    const bool forced = kernel.name == wish;
    if (forced && !kernel.available()) {
      refuse(wish);
    }
    if (forced || ((wish.empty() || !in_use.empty()) && kernel.available())) {
      in_use.push_back({kernel, forced});
    }
  }
  if (in_use.empty()) {
    refuse(wish);
  }
  choose_blas_kernel();
  make_blas_serial();
  return in_use;
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

std::span<const KernelInUse> kernels_in_use() {
  static const std::vector<KernelInUse> in_use = choose();
  return in_use;
}

std::string products_run_on() {
  constexpr int64_t n = 512;
  const Product medium{{nullptr, n, n}, {nullptr, n, n}, {nullptr, n, n}};
  for (const KernelInUse& kernel : kernels_in_use()) {
    if (kernel.products->takes(medium, kernel.forced)) {
      return kernel.description;
    }
  }
  return "";
}

}  // namespace heed::detail
