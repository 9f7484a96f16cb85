// Prints values as PyTorch prints tensors, for comparison with a book or a notebook.
//   tensor([[0.4300, 0.1500, 0.8900],
//           [0.5500, 0.8700, 0.6600]])
// Four digits; one width for all elements; integers as "1."; lines of at most 80 columns.
// Scientific notation if the largest number is above 1e8 or more than 1000 times the smallest, or
// the smallest is below 1e-4 (ignoring zeros, infinities and NaN). Above 1000 elements, only the
// first and last three along each axis. Under HEED_FLOAT64 it ends in dtype=torch.float64. Source:
// PyTorch 2.13, torch/_tensor_str.py.
#pragma once

#include <string>

#include "autograd/graph/tensor.h"

namespace heed {

std::string printed(const Array& values);
std::string printed(const Ids& ids);    // as int64: tensor([40, 134, 75])
std::string printed(const Mask& mask);  // as bool:  tensor([ True, False])
inline std::string printed(const Tensor& tensor) { return printed(tensor.value()); }

}  // namespace heed
