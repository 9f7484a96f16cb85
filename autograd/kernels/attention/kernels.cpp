#include "autograd/kernels/attention/kernels.h"

#include "autograd/kernels/attention/backward.h"
#include "autograd/kernels/attention/forward.h"
#include "autograd/kernels/gemm/packed.h"
#include "autograd/kernels/simd/simd.h"

namespace heed::detail {

namespace {

struct Unit {
  const char *name, *description;
  Simd needs;
};
#if defined(__x86_64__)
constexpr Unit unit = vector_bytes == 64   ? Unit{"vector-512", "AVX-512", Simd::avx512}
                      : vector_bytes == 32 ? Unit{"vector-256", "AVX2", Simd::avx2}
                                           : Unit{"vector-128", "SSE", Simd::sse4};
#elif defined(__aarch64__)
constexpr Unit unit{"vector-128", "NEON", Simd::neon};
#else
constexpr Unit unit{"vector-128", "128-bit vectors", Simd::none};
#endif

constexpr ProductKernel products{packed_gemm, /*any_tiles=*/true};

constexpr AttentionKernel attention{forward_pass, weights_pass, backward_pass};

}  // namespace

const KernelEntry HEED_VECTOR_KERNEL{unit.name, unit.description, unit.needs, &products,
                                     &attention};

}  // namespace heed::detail
