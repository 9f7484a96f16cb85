// The pass back through the steps of a page of `heed explain`. Each step's operation runs alone, on
// the values that the page has of its inputs, and back from the gradient of what it gave:
//   y = f(x_0, x_1, ...)      dx_i = (dy/dx_i)^T dy
// Where several steps read one, the gradients that they send back add up. Every number inside of a
// fused operation has its gradient so: attention scores, weights, the hidden layer.
#pragma once

#include <map>

#include "tools/extras/explain/page_data.h"

namespace heed::gradients {

// d L / d value of each step, by its id. `cotangent`: that of the last step, of its shape. Adds to
// each step `through`, the norms of what it sends back to each of the steps it reads. Throws
// ConfigError for a step that the page does not take apart (kind "given").
std::map<std::string, Array> run_back(explain::PageData& page, const Array& cotangent);

}  // namespace heed::gradients
