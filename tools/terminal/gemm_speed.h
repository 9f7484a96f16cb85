// How fast matrix products are on this machine, now.
#pragma once

namespace heed::cli {

// GFLOP/s of products of 1024 x 1024 random matrices on all threads.
struct GemmSpeed {
  double heed;      // as layers multiply
  double openblas;  // by OpenBLAS alone
};

// The medians of what fits into half a second, by turns, after two to warm up.
GemmSpeed gemm_speed();

}  // namespace heed::cli
