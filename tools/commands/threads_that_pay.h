// Small networks for which more threads do not pay.
#pragma once

#include <cstdint>

namespace heed::cli {

// One thread for each 75 million FLOPs of a step, at least one: with fewer a thread costs more than
// it saves. Two threads against one on an AMD EPYC with two cores, configs/quickstart.yaml with two
// heads, 2026-11-26:
//
//   d_model             16     32     16     32     32     64
//   batch_size           8      4     16      8     16     16
//   MFLOP of a step     54     91    107    183    366   1336
//   times as fast     0.77   0.84   0.85   1.18   1.28   1.65
int threads_that_pay(int64_t flops_per_step);

// Limits the number of threads to those that pay, unless a number was given. Returns true if they
// are fewer than before. The bits of a run do not depend on it.
bool use_threads_that_pay(int64_t flops_per_step);

}  // namespace heed::cli
