// Shared by the benchmarks: medians over consecutive rounds.
#pragma once

#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <random>
#include <vector>

#include "autograd/graph/tensor.h"
#include "tools/extras/bench/median.h"

namespace heed::bench {

// Wall-clock time, and CPU time over all threads, in milliseconds since construction.
class Stopwatch {
 public:
  double ms() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
  }
  double cpu_ms() const { return static_cast<double>(std::clock() - cpu_) * 1e3 / CLOCKS_PER_SEC; }

 private:
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start_ = Clock::now();
  const std::clock_t cpu_ = std::clock();
};

// Milliseconds of each of `rounds` calls, after a warm-up call that fills the pool and wakes the
// threads.
template <class Work>
double median_ms(int rounds, const Work& work) {
  work();
  std::vector<double> ms;
  for (int i = 0; i < rounds; ++i) {
    ms.push_back(1e3 * seconds_of(work));
  }
  return median(std::move(ms));
}

// Calls work(). Prints the message of what it throws. Returns the exit code of the program.
template <class Work>
int exit_code_of(const char* program, const Work& work) {
  try {
    work();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 1;
  }
}

inline Array normal_numbers(const Shape& shape, uint64_t seed) {
  std::mt19937_64 words(seed);
  std::normal_distribution<double> normal;
  Array x = Array::uninitialised(shape);
  for (int64_t i = 0; i < x.size(); ++i) {
    x.mutable_data()[i] = static_cast<real>(normal(words));
  }
  return x;
}

}  // namespace heed::bench
