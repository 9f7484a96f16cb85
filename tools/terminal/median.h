#pragma once

#include <algorithm>
#include <vector>

namespace heed {

// The upper one of the two in the middle of an even number of values. At least one is needed.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace heed
