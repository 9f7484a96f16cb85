#include "autograd/kernels/choice.h"

#include <cstdlib>
#include <string_view>
#include <vector>

#include "autograd/base/error.h"
#include "autograd/kernels/blas_info.h"
#include "autograd/kernels/openblas.h"
#include "autograd/kernels/tiled_attention.h"

namespace heed::detail {

#ifdef HEED_OWN_KERNELS
// Defined in the sub-folders, whose headers this folder does not include: it works without them.
extern const ProductKernel amx_fp16_products, amx_bf16_products, vector_products;
extern const AttentionKernel amx_fp16_attention, amx_bf16_attention, vector_attention;
bool amx_fp16_available(bool forced);
bool amx_bf16_available(bool forced);
#endif

namespace {

bool always(bool) { return true; }

#ifdef HEED_AMX_EMULATION
#define HEED_EMULATED ", emulated"
#else
#define HEED_EMULATED ""
#endif

#if defined(__AVX512F__)
[[maybe_unused]] constexpr const char* vector_unit = "AVX-512";
#elif defined(__AVX__)
[[maybe_unused]] constexpr const char* vector_unit = "AVX2";
#else
[[maybe_unused]] constexpr const char* vector_unit = "128-bit vectors";
#endif

const KernelEntry by_preference[] = {
#ifdef HEED_OWN_KERNELS
    {"amx-fp16", "AMX in float16" HEED_EMULATED, amx_fp16_available, &amx_fp16_products,
     &amx_fp16_attention},
    {"amx-bf16", "AMX in bfloat16" HEED_EMULATED, amx_bf16_available, &amx_bf16_products,
     &amx_bf16_attention},
    {"vector", vector_unit, always, &vector_products, &vector_attention},
#endif
    {"openblas", "OpenBLAS", always, &openblas_products, &tiled_attention},
};

[[noreturn]] void refuse(std::string_view wish) {
  bool known = false;
  std::string available;
  for (const KernelEntry& kernel : by_preference) {
    known = known || kernel.name == wish;
    if (kernel.available(true)) {
      available += (available.empty() ? "" : ", ") + std::string(kernel.name);
    }
  }
  fail<ConfigError>("HEED_KERNELS=", wish, known ? ": not available here" : ": no such kernel",
                    "; available: ", available);
}

std::vector<KernelInUse> choose() {
  const char* variable = std::getenv("HEED_KERNELS");
  const std::string_view wish = variable == nullptr ? "" : variable;
  std::vector<KernelInUse> in_use;
  for (const KernelEntry& kernel : by_preference) {
    const bool forced = kernel.name == wish;
    if (forced && !kernel.available(true)) {
      break;
    }
    const bool after_the_forced = !in_use.empty() && in_use.front().forced;
    if (forced || ((wish.empty() || after_the_forced) && kernel.available(false))) {
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

std::span<const KernelEntry> all_kernels() { return by_preference; }

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
