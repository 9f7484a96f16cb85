// Parameters that training leaves as they are: `train.freeze`.
#pragma once

#include <string>
#include <vector>

#include "train/extras/optimizers/parameter_patterns.h"

namespace heed {

// What is wrong with a pattern that matches no parameter, or none that is not frozen already; "" if
// it matches one.
std::string mistake_in_freeze(const Module& model, const std::string& pattern);

// Makes constants of the parameters that a pattern matches; a tied one if any of its names does.
// Throws ConfigError for a pattern that matches nothing, and if no parameter would be left.
void freeze(Module& model, const std::vector<std::string>& patterns);

}  // namespace heed
