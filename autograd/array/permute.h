// Reordering the axes of an array.
#pragma once

#include <array>

#include "autograd/array/array.h"

namespace heed {

// Axis k of the result is axis order[k] of x. `order` names every axis of x once.
using AxisOrder = std::array<int, Shape::max_rank>;
Array permuted(const Array& x, const AxisOrder& order);

// The order that undoes `order`, for arrays of that rank.
AxisOrder inverse_order(const AxisOrder& order, int rank);

}  // namespace heed
