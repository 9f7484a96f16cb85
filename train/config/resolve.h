// What a run keeps of the files that its config names.
#pragma once

#include <filesystem>

#include "train/config/run_config.h"

namespace heed {

// Makes paths absolute and adds the fingerprints of files, so that the run can be resumed from any
// folder, but only with the same data and tokenizer.
void resolve_data(ConfigNode& data, const std::filesystem::path& folder, const Task& dataset);

// Makes the path absolute. For a run that is about to begin, finds the file and adds its hash.
// Throws IoError if it cannot be read or has changed.
void resolve_weights(LoadedRun& run, const std::filesystem::path& folder, bool begins);

// Warns if the ids of the weights mean something else: they were trained with another tokenizer or,
// in a run of an earlier version, which kept no vocabulary, on another text.
void compare_tokenizers(LoadedRun& run);

// Lists the plugins that a resumed run must load. The key is left out if there are none.
void resolve_plugins(ConfigNode& config, const std::filesystem::path& folder);

}  // namespace heed
