// Values of a config that the command line changes.
#pragma once

#include <string>

#include "layers/config/errors.h"

namespace heed {

// `--set model.d_model=64`: sets a value under a path of keys; makes the sections on the way that
// are not there; a number selects an element of a list (layers.0.d_out=3). The value is YAML by the
// rules of yaml.h (betas=[0.9, 0.99]). Places are `--set model.d_model=64:1:N`, N a column of the
// argument.
void apply_set(ConfigNode& root, const std::string& argument);
void apply_set(ConfigNode& root, const std::string& argument, ConfigErrors& errors);

}  // namespace heed
