// How much work a chunk of a parallel loop gets. Chunks depend on the shape alone, never on the
// number of threads: that is what keeps results the same bits for any number of them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heed {

inline constexpr int64_t elementwise_grain = 16384;  // numbers

// Rows of `width` numbers a chunk.
inline int64_t row_grain(int64_t width) {
  return std::max<int64_t>(1, elementwise_grain / std::max<int64_t>(1, width));
}

}  // namespace heed
