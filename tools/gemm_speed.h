// How fast matrix products are on this machine, now.
#pragma once

namespace heed::cli {

// GFLOP/s of products of 1024 x 1024 matrices on all threads: the median of those that fit into a
// third of a second, after two to warm up.
double gemm_gflops();

}  // namespace heed::cli
