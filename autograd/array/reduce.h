// Sums of arrays, in an order that depends on the shape alone and with double accumulators.
#pragma once

#include "autograd/array/array.h"

namespace heed {

// Sum over one axis, which stays with extent 1.
Array sum_axis(const Array& x, int axis);

// The inverse of broadcasting: sums x over the axes along which `shape` was stretched.
Array sum_to(const Array& x, const Shape& shape);

double sum_all(const Array& x);

}  // namespace heed
