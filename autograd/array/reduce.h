// Sums and comparisons of arrays. The accumulators are doubles, and the order of the additions
// depends on the shape alone: the result is the same for any number of threads.
#pragma once

#include <optional>
#include <string>

#include "autograd/array/array.h"

namespace heed {

// Sum over one axis, which is kept with extent 1.
Array sum_axis(const Array& x, int axis);

// The gradient of broadcasting `shape` to the shape of x: sums x over the axes that were stretched.
Array sum_to(const Array& x, const Shape& shape);

double sum_all(const Array& x);

// True if no element is NaN or infinite.
bool all_finite(const Array& x);

// The first place where |a - b| > tolerance max(1, |b|), "element 3 of (4,): 1 and 2", or both
// shapes; "" if there is none. All NaN are the same. Without a tolerance, other bits differ.
std::string difference(const Array& a, const Array& b, std::optional<double> tolerance = {});

}  // namespace heed
