// The parameters whose values a user wants to see before and after training (train.show).
#pragma once

#include <string>
#include <vector>

#include "layers/module/module.h"

namespace heed {

// The parameters that these names choose, in their order. A name is that of a parameter,
// "W_query.weight", or of a layer, "W_query", for all that it has. One that is neither chooses
// nothing.
std::vector<NamedParameter> shown_parameters(const Module& model,
                                             const std::vector<std::string>& names);

// What is wrong with a name that chooses nothing, with the nearest one; "" if it chooses some.
std::string mistake_in_shown(const Module& model, const std::string& name);

}  // namespace heed
