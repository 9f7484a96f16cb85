// Distinct symbols in random order: how many such rows there are, and one of them.
#pragma once

#include <cstdint>
#include <vector>

#include "autograd/random/generator.h"

namespace heed {

// n (n - 1) ... (n - k + 1), the number of ways to draw k of n things in order.
double arrangements(int64_t n, int64_t k);
// `count` distinct numbers in [0, n), in random order: the first steps of a Fisher-Yates shuffle.
std::vector<int32_t> draw_distinct(Generator& generator, int64_t n, int64_t count);

}  // namespace heed
