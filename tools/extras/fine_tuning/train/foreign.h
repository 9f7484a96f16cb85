// Weights of other systems that training can start from (train.weights, --weights): a door for
// other extras. A header that ends in HEED_WEIGHTS(Class, "name") adds a kind of folder.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "layers/module/registry.h"
#include "train/files/fingerprint.h"
#include "train/tokenizers/tokenizer.h"

namespace heed {

// What is wrong with weights that were read, as the end of a message; "" if all are finite. A large
// number of F64 is infinite as float32.
std::string mistake_in_weights(const Array& weights);

class ForeignWeights {
 public:
  virtual ~ForeignWeights() = default;

  // Whether a folder is one of this system's.
  virtual bool has_made(const std::filesystem::path& folder) const = 0;
  // The file of the folder that leads to its weights. Throws IoError if there is none.
  virtual std::filesystem::path weights_file(const std::filesystem::path& folder) const = 0;
  // Size and hash of such a file, of all files it leads to. Throws IoError for a damaged one.
  virtual Fingerprint fingerprint(const std::filesystem::path& file) const = 0;
  // Fills the parameters of a model, as start_from() does (source.h).
  virtual void load(Module& model, const std::filesystem::path& file,
                    const std::function<bool(const std::string&)>& is_ignored) const = 0;
  // The config of the model that the weights were made with: {type: gpt, ...}.
  virtual ConfigNode model(const std::filesystem::path& file) const = 0;
  // The tokenizer whose ids they read; null if the folder has none. Throws Error for a damaged one.
  virtual std::unique_ptr<Tokenizer> tokenizer(const std::filesystem::path& folder) const = 0;
};

using ForeignWeightsRegistry = Registry<ForeignWeights>;
ForeignWeightsRegistry& weights_registry();
void register_foreign_weights(ForeignWeightsRegistry& registry);

// The system that made a folder; null if none of those registered did.
std::unique_ptr<ForeignWeights> maker_of(const std::filesystem::path& folder);

#define HEED_WEIGHTS(Class, name)                               \
  static_assert(std::is_base_of_v<heed::ForeignWeights, Class>, \
                name " must derive from ForeignWeights")

}  // namespace heed
