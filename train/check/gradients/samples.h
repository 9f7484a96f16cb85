// Which elements of a large array a gradient check compares.
#pragma once

#include <cstdint>
#include <vector>

#include "autograd/array/shape.h"

namespace heed {

// Returns `count` different elements of an array of this shape, or all if it has no more, as
// ascending row-major indices: a Latin hypercube sample (McKay, Beckman and Conover 1979), the same
// in every call. The first and the last element are among them, and every index of an axis that is
// no longer than `count`: every row and every column of a matrix. The order is random, so that no
// residue class of the index is left out.
std::vector<int64_t> sampled_elements(const Shape& shape, int64_t count);

}  // namespace heed
