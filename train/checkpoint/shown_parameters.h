// The parameters whose values a user wants to see before and after training (train.show).
#pragma once

#include <string>
#include <vector>

#include "layers/module/module.h"

namespace heed {

// The parameters that these names choose, in their order. A name is that of a parameter,
// "W_query.weight", or of a layer, "W_query", for all that it has. Throws ConfigError, with the
// nearest name, for one that is neither.
std::vector<NamedParameter> shown_parameters(const Module& model,
                                             const std::vector<std::string>& names);

}  // namespace heed
