// Times, and what stands for many of them.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace heed {

// The upper one of the two in the middle of an even number of values. At least one is needed.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The time of a call of work().
template <class Work>
double seconds_of(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace heed
