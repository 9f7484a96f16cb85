#include "autograd/kernels/attention/kernels.h"

#include <algorithm>

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
#else
constexpr Unit unit{"vector-128", "128-bit vectors", Simd::none};
#endif

// Whether packed_gemm was measured to be faster for p than OpenBLAS, on CPUs whose widest vectors
// are these.
#if defined(__AVX512F__)

// On Intel it takes 0.5 to 1.0 of OpenBLAS's time, except for tiny products and for a C larger than
// the L2 cache, which is read and written once for each most_depth of k. For small products
// OpenBLAS has kernels that do not pack, but it packs a transposed B all the same. On AMD's CPUs
// OpenBLAS is as fast.
bool is_faster(const Product& p) {
  const bool rows_by_rows = !p.a.is_transposed() && p.b.is_transposed();
  const int64_t least_work = rows_by_rows ? 1 << 12 : 1 << 20, least_rows = 6;
  const int64_t least_width = rows_by_rows ? lanes : 4 * lanes;
  constexpr int64_t most_of_c = (int64_t{2} << 20) / static_cast<int64_t>(sizeof(real));
  static const bool intel = __builtin_cpu_is("intel");
  return intel && p.m() >= least_rows && std::min(p.n(), p.k()) >= least_width &&
         p.m() * p.n() * p.k() >= least_work && p.m() * p.n() <= most_of_c;
}

#elif defined(__AVX2__)

// On AMD's Zen 2 it takes 0.93 to 0.97 of OpenBLAS's time where the depth is small. Beyond, both
// run at 0.9 of the CPU's peak.
bool is_faster(const Product& p) {
  constexpr int64_t most_depth = 256, least_side = 32;
  static const bool amd = __builtin_cpu_is("amd") && cpu().simd == Simd::avx2;
  return amd && !p.a.is_transposed() && p.k() <= most_depth &&
         std::min({p.m(), p.n(), p.k()}) >= least_side;
}

#else

bool is_faster(const Product&) { return false; }

#endif

bool takes(const Product& p, bool forced) { return forced || is_faster(p); }

// Every number of C is a sum in the order of k, in steps that depend on k alone, so any granule
// would do: one of whole vectors leaves no lane idle.
constexpr Granule granule() { return {32, 32}; }

constexpr ProductKernel products{takes, packed_gemm, granule};

constexpr AttentionKernel attention{forward_pass, weights_pass, backward_pass};

}  // namespace

const KernelEntry HEED_VECTOR_KERNEL{unit.name, unit.description, unit.needs, &products,
                                     &attention};

}  // namespace heed::detail
