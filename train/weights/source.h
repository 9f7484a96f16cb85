// Weights that training starts from: `train.weights`, `--weights`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "layers/module/module.h"

namespace heed {

// The safetensors file of a source: of a run, that of its newest good checkpoint; of a checkpoint,
// its own; a safetensors file itself. Warnings about damaged checkpoints go to `warnings`. Throws
// IoError if there is none.
std::filesystem::path find_weights(const std::filesystem::path& source,
                                   std::vector<std::string>& warnings);

// Fills the parameters of `model` from a file. Parameters and tensors that a pattern in `ignored`
// matches (freeze.h) may be missing, surplus or of another shape: such parameters stay as they are.
// Throws IoError for a damaged file, ConfigError, which lists every tensor that does not fit with
// both shapes, for one of another model. In a dry run tensors are compared only.
void start_from(Module& model, const std::filesystem::path& file,
                const std::vector<std::string>& ignored);

}  // namespace heed
