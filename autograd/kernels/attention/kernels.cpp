#include "autograd/kernels/attention/kernels.h"

#include <algorithm>

#include "autograd/kernels/attention/amx_kernel.h"
#include "autograd/kernels/attention/backward.h"
#include "autograd/kernels/attention/forward.h"
#include "autograd/kernels/gemm/packed.h"
#ifdef HEED_HAS_AMX
#include "autograd/kernels/gemm/amx/product.h"
#endif

namespace heed::detail {

namespace {

// Three bfloat16 take six products of AMX for one, and P is split block by block: on a Xeon with
// AMX in bfloat16 alone, attention of 4 heads of 64 at T 4096 takes 1.25 of its time on AVX-512.
template <AmxFormat format>
bool takes_attention(const AttentionProblem& p, bool forced) {
  return format == AmxFormat::none || (amx_serves(p) && (forced || format == AmxFormat::float16));
}

template <AmxFormat format>
constexpr AttentionKernel attention_on{
    takes_attention<format>,
    [](const AttentionProblem& p, const AttentionInputs& inputs, real* y,
       AttentionStatistics& statistics) { return forward_pass(format, p, inputs, y, statistics); },
    weights_pass,
    [](const AttentionProblem& p, const AttentionInputs& inputs,
       const AttentionStatistics& statistics, const real* y, const real* dy,
       const AttentionGradients& gradients) {
      backward_pass(format, p, inputs, statistics, y, dy, gradients);
    }};

// Every number of C is a sum in the order of k, in steps that depend on k alone; AMX has blocks of
// 32 x 32.
constexpr Granule blocks() { return {32, 32}; }

}  // namespace

#ifdef HEED_HAS_AMX

#ifdef HEED_AMX_EMULATION
#define HEED_EMULATED ", emulated"
constexpr Simd amx_needs = Simd::none;
#else
#define HEED_EMULATED ""
constexpr Simd amx_needs = Simd::avx512;
#endif

namespace {

template <AmxFormat format>
bool available(bool forced) {
  return forced ? amx_runs(format) : amx_preferred(format);
}

template <AmxFormat format>
constexpr ProductKernel products_on{[](const Product& p, bool) { return amx_pays(p); },
                                    [](const Product& p) { amx_gemm(p, format); }, blocks};

}  // namespace

const KernelEntry amx_fp16{"amx-fp16",
                           "AMX in float16" HEED_EMULATED,
                           amx_needs,
                           available<AmxFormat::float16>,
                           &products_on<AmxFormat::float16>,
                           &attention_on<AmxFormat::float16>};
const KernelEntry amx_bf16{"amx-bf16",
                           "AMX in bfloat16" HEED_EMULATED,
                           amx_needs,
                           available<AmxFormat::bfloat16>,
                           &products_on<AmxFormat::bfloat16>,
                           &attention_on<AmxFormat::bfloat16>};

#else

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

constexpr ProductKernel products{takes, packed_gemm, blocks};

}  // namespace

const KernelEntry HEED_VECTOR_KERNEL{unit.name, unit.description, unit.needs,
                                     nullptr,   &products,        &attention_on<AmxFormat::none>};

#endif

}  // namespace heed::detail
