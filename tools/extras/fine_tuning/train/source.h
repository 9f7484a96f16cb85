// Weights that training starts from: `train.weights`, `--weights`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "layers/config/fields.h"
#include "layers/module/module.h"
#include "train/files/fingerprint.h"

namespace heed {

// The file of a source: of a run, the safetensors file of its newest good checkpoint; of a
// checkpoint, its own; of a folder of another system (foreign.h), what leads to them; a safetensors
// file itself.
// Warnings about damaged checkpoints go to `warnings`. Throws IoError if there is none.
std::filesystem::path find_weights(const std::filesystem::path& source,
                                   std::vector<std::string>& warnings);

// Size and hash of such a file; of an index, of all its files.
Fingerprint source_fingerprint(const std::filesystem::path& file);

// The words for tensors that do not fit, one mistake a line: in one line, with what lets them
// differ.
std::string not_these_weights(const IoError& error);

// Fills the parameters of `model` from a file. Parameters and tensors that a pattern in `ignored`
// matches (parameter_patterns.h) may be missing, surplus or of another shape: such parameters stay
// as they are. Throws IoError for a damaged file, ConfigError, which lists every tensor that does
// not fit with both shapes, for one of another model. In a dry run tensors are compared only.
void start_from(Module& model, const std::filesystem::path& file,
                const std::vector<std::string>& ignored);

// A field of the config of a model: "attention.scale", "3" here and "auto" there.
struct Difference {
  std::string field, ours, theirs;
};

// The fields in which two models compute different functions of the same weights.
std::vector<Difference> differences(const LayerChoice& ours, const LayerChoice& theirs);

// The same for a model and the one that a file's weights were made with, whose config lies next to
// it: a line for the user each. None without such a config.
std::vector<std::string> differences_from(const std::filesystem::path& file,
                                          const LayerChoice& model);

}  // namespace heed
