#include "tools/commands/threads_that_pay.h"

#include <algorithm>

#include "autograd/threads/machine.h"
#include "autograd/threads/parallel.h"

namespace heed::cli {

int threads_that_pay(int64_t flops_per_step) {
  constexpr int64_t flops_of_a_thread = 75'000'000;
  return static_cast<int>(std::clamp<int64_t>(flops_per_step / flops_of_a_thread, 1, most_threads));
}

bool use_threads_that_pay(int64_t flops_per_step) {
  const int before = num_threads();
  limit_threads(threads_that_pay(flops_per_step));
  return num_threads() < before;
}

}  // namespace heed::cli
