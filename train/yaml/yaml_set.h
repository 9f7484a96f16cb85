// Config values set on the command line.
#pragma once

#include <string>

#include "layers/config/errors.h"

namespace heed {

// `--set model.d_model=64`: sets the value at a path of keys. Missing sections on the path are
// created. A number selects a list element (layers.0.d_out=3). The value is YAML by the rules of
// yaml.h (betas=[0.9, 0.99]). Errors have the position `--set model.d_model=64:1:N`, where N is a
// column of the argument.
void apply_set(ConfigNode& root, const std::string& argument, ConfigErrors& errors);

}  // namespace heed
