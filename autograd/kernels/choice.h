// Which kernel computes matrix products and attention. The only place that knows them all.
//
// In order of preference:
//
//   vector-512, -256, -128   AVX-512; AVX2; SSE or NEON: gemm/packed.h, attention/
//   openblas                 OpenBLAS for products; attention by tiles, tiled_attention.h
//
// The last one is always there. The others lie in the sub-folders of this folder, which may be left
// out of a build (-DHEED_KERNELS=OFF, or delete them): the minimal engine is OpenBLAS and OpenMP
// alone. The first kernel in the list that is available here computes everything. HEED_KERNELS in
// the environment forces another one. Those with fused multiply-adds give the same bits: all vector
// ones but SSE.
#pragma once

#include <span>

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

// All that this build has, in order of preference.
std::span<const KernelEntry> all_kernels();

// Decided at the first call, which also lets OpenBLAS choose its kernels. Products and attention
// ask before their loops, never inside one. Throws ConfigError for a HEED_KERNELS that is not
// available here and names those that are.
const KernelEntry& kernel_in_use();

}  // namespace heed::detail
