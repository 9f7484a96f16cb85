// Keys of a config that would be valid elsewhere in it.
#pragma once

#include "train/config/run_config.h"

namespace heed {

// Extends the message about each unknown key if another place of the config takes it: "...; lr
// belongs to optimizer", "here it is optimizer.lr", or "...; momentum belongs to the optimizer sgd"
// if that type would have to be chosen first. A field given by a word of another tool does not
// count as missing.
void explain_misplaced_keys(RunConfig& config, ConfigErrors& errors);

}  // namespace heed
