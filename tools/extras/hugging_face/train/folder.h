// A folder of Hugging Face's transformers: config.json, and weights in model.safetensors or in the
// several files of model.safetensors.index.json.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tools/extras/hugging_face/train/model_config.h"
#include "train/files/safetensors.h"

namespace heed {

// True if the folder has a config.json that names a model_type.
bool is_hugging_face_folder(const std::filesystem::path& folder);

// The file that leads to the weights of a folder: model.safetensors, or the index. Throws IoError
// if there is none of them.
std::filesystem::path weights_file(const std::filesystem::path& folder);

// Size and hash of a weights_file(); of an index, of that and all of its files together.
Fingerprint weights_fingerprint(const std::filesystem::path& weights_file);

// The tensors of a weights_file(). All headers are checked when it is opened.
class FolderWeights {
 public:
  explicit FolderWeights(const std::filesystem::path& weights_file);

  const std::string& path() const { return path_; }
  // Null if no file has this tensor.
  const TensorInfo* find(const std::string& name) const;
  // The file that has it.
  const SafeTensors& file_of(const std::string& name) const { return files_[file_of_.at(name)]; }
  std::vector<std::string> names() const;

 private:
  std::string path_;
  std::vector<SafeTensors> files_;
  std::map<std::string, size_t> file_of_;  // by tensor
};

using IsIgnored = std::function<bool(const std::string& name)>;

// Compares the tensors with the parameters of a model that the architecture can hold. Parameters
// and tensors whose name, in either system, `ignored` returns true for may be missing, surplus or
// of another shape. Throws IoError with all mistakes, one per line, which name both systems and
// both shapes. A bias that the model does not have must be zeros. Buffers that transformers saved
// once (attn.bias, masked_bias, inv_freq) are skipped.
void check_weights(const Architecture& architecture, const Gpt& model, const FolderWeights& weights,
                   const IsIgnored& ignored);
// Fills the parameters. Requires that check_weights() has thrown nothing. Returns false if a tensor
// stands for a parameter that the model does not have, and has other numbers than that would be:
// positions that are no sines. Throws IoError with the tensors, one per line, in which numbers are
// not finite.
bool load_weights(const Architecture& architecture, Gpt& model, const FolderWeights& weights,
                  const IsIgnored& ignored);

}  // namespace heed
