// Products of sizes that come from a config. What is too large becomes the largest number there is,
// which a Shape or the plan of a run then refuses, instead of wrapping to a small one.
#pragma once

#include <cstdint>
#include <limits>

namespace heed {

// a * b for a, b >= 0, at most 2^63 - 1.
inline int64_t saturated_product(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

}  // namespace heed
