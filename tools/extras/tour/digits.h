// Matrices with three significant digits in every number, as text.
#pragma once

#include <string>

#include "autograd/graph/tensor.h"

namespace heed::tour {

// "0.123", "-0.00456", "7.89e-06", "-inf", and "0" for 0 alone. A row a line, the points of all
// numbers below each other; of a shape (..., n), all rows.
std::string three_digits(const Tensor& x);

// Two blocks of lines next to each other if they fit into `width` columns, else the second below
// the first.
std::string side_by_side(const std::string& left, const std::string& right, size_t width);

}  // namespace heed::tour
