// What a run keeps of the files that its config names.
#pragma once

#include <filesystem>

#include "train/config/run_config.h"

namespace heed {

// Makes paths absolute and adds the fingerprints of files, so that the run can be resumed from any
// folder, but only with the same data and tokenizer.
void resolve_data(ConfigNode& data, const std::filesystem::path& folder, const Task& dataset);

// Lists the plugins that a resumed run must load. The key is left out if there are none.
void resolve_plugins(ConfigNode& config, const std::filesystem::path& folder);

}  // namespace heed
