// Which kernels compute matrix products and attention. The only place that knows them all.
//
// A kernel is what a product or an attention call runs on. In order of preference:
//
//   vector-512, -256, -128   AVX-512; AVX2; SSE or NEON: gemm/packed.h, attention/
//   openblas                 OpenBLAS for products; attention by tiles, tiled_attention.h
//
// The last one is always there and takes everything. The others lie in the sub-folders of this
// folder, which may be left out of a build (-DHEED_KERNELS=OFF, or delete them): the minimal engine
// is OpenBLAS and OpenMP alone. Attention runs on the first kernel in the list that is available
// here, a product on the first of those that takes its sizes, so the choice depends on the machine
// and the shape, never on the numbers' order or the number of threads.
//
// HEED_KERNELS in the environment forces a kernel: those before it are not used, and it takes
// whatever it can compute, also sizes that run faster on the kernels after it.
#pragma once

#include <span>
#include <string>

#include "autograd/kernels/attention.h"
#include "autograd/kernels/product.h"
#include "autograd/threads/machine.h"

namespace heed::detail {

struct AttentionKernel {
  // y (B, T, H dv), and the statistics' arrays.
  void (*forward)(const AttentionProblem& p, const AttentionInputs& inputs, real* y,
                  AttentionStatistics& statistics);
  // weights (B, H, T, S): P, before dropout.
  void (*weights)(const AttentionProblem& p, const AttentionInputs& inputs,
                  const AttentionStatistics& statistics, real* weights);
  // The gradients do not overlap. y and dy are (B, T, H dv).
  void (*backward)(const AttentionProblem& p, const AttentionInputs& inputs,
                   const AttentionStatistics& statistics, const real* y, const real* dy,
                   const AttentionGradients& gradients);
};

struct KernelEntry {
  const char* name;         // as in HEED_KERNELS
  const char* description;  // "AVX2"
  Simd needs;               // what the CPU must have before anything below is called
  const ProductKernel* products;
  const AttentionKernel* attention;

  bool available() const { return needs == Simd::none || cpu().simd >= needs; }
};

// In front of the entries, which the sub-folders define: those of the library, also in a program
// that is linked with the sub-folders' objects once more, as the tests are.
#define HEED_IN_LIBRARY [[gnu::visibility("hidden")]]

struct KernelInUse : KernelEntry {
  bool forced;
};

// All that this build has, in order of preference.
std::span<const KernelEntry> all_kernels();

// Best first; the last one takes everything. Decided at the first call, which also lets OpenBLAS
// choose its kernels. Products and attention ask before their loops, never inside one.
// Throws ConfigError for a HEED_KERNELS that is not available here and names those that are.
std::span<const KernelInUse> kernels_in_use();

// What a product of medium size runs on, for people: "AVX2", "OpenBLAS".
std::string products_run_on();

}  // namespace heed::detail
