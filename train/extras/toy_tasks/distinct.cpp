#include "train/extras/toy_tasks/distinct.h"

#include <numeric>

#include "train/extras/toy_tasks/made_examples.h"

namespace heed {

double arrangements(int64_t n, int64_t k) {
  double ways = 1;
  for (int64_t i = 0; i < k; ++i) {
    ways *= static_cast<double>(n - i);
  }
  return ways;
}

std::vector<int32_t> draw_distinct(Generator& generator, int64_t n, int64_t count) {
  std::vector<int32_t> numbers(static_cast<size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const auto other = static_cast<size_t>(draw_below(generator, numbers.size() - i));
    std::swap(numbers[i], numbers[i + other]);
  }
  numbers.resize(static_cast<size_t>(count));
  return numbers;
}

}  // namespace heed
