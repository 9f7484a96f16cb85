// The current speed of matrix products on this machine.
#pragma once

namespace heed::cli {

// GFLOP/s of products of 1024 x 1024 random matrices on all threads.
struct GemmSpeed {
  double heed;      // with the kernels that layers use
  double openblas;  // with OpenBLAS alone
};

// Medians over half a second, timed alternately, after two warm-up products.
GemmSpeed gemm_speed();

}  // namespace heed::cli
