#include "tools/extras/hugging_face/train/folder.h"

#include <algorithm>
#include <set>

#include "autograd/base/modes.h"
#include "layers/text/display.h"
#include "tools/extras/fine_tuning/train/foreign.h"
#include "tools/extras/hugging_face/train/json.h"
#include "train/files/tensor_mistakes.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

constexpr const char* one_file = "model.safetensors";
constexpr const char* index_file = "model.safetensors.index.json";
constexpr size_t most_files = 1000;

bool is_index(const fs::path& file) { return file.extension() == ".json"; }

std::set<std::string> files_in(const std::map<std::string, std::string>& weight_map) {
  std::set<std::string> files;
  for (const auto& entry : weight_map) files.insert(entry.second);
  return files;
}

std::map<std::string, std::string> read_weight_map(const fs::path& index) {
  auto files = parse_weight_map(read_file(index, json_limits::index_bytes), index.string());
  const size_t count = files_in(files).size();
  require<IoError>(count <= most_files, index.string(), ": expected at most ", most_files,
                   " files, got ", count);
  return files;
}

}  // namespace

bool is_hugging_face_folder(const fs::path& folder) {
  const fs::path config = folder / "config.json";
  return is_there(config) && read_json(config).has("model_type");
}

fs::path weights_file(const fs::path& folder) {
  const bool has_one = is_there(folder / one_file), has_index = is_there(folder / index_file);
  if (has_one && has_index) {
    require<IoError>(
        files_in(read_weight_map(folder / index_file)) == std::set<std::string>{one_file},
        folder.string(), ": expected ", one_file, " or ", index_file, ", got both, and ",
        "the index leads to other files; transformers reads ", one_file,
        ": remove the one that is not meant");
  }
  if (has_one || has_index) return folder / (has_one ? one_file : index_file);
  const bool pickled = is_there(folder / "pytorch_model.bin");
  fail<IoError>(folder.string(), ": expected ", one_file, " or ", index_file, ", got neither",
                pickled ? "; pytorch_model.bin can run code and is not read: save_pretrained() of "
                          "transformers makes a safetensors file of it"
                        : "");
}

Fingerprint weights_fingerprint(const fs::path& file) {
  const Fingerprint own = fingerprint_file(file);
  if (!is_index(file)) return own;
  std::string all = own.text();
  for (const std::string& name : files_in(read_weight_map(file))) {
    all += "\n" + name + " " + fingerprint_file(file.parent_path() / name).text();
  }
  return fingerprint(as_bytes(all));
}

FolderWeights::FolderWeights(const fs::path& file) : path_(file.string()) {
  if (!is_index(file)) {
    files_.emplace_back(file);
  } else {
    const auto weight_map = read_weight_map(file);
    std::map<std::string, size_t> opened;
    for (const std::string& name : files_in(weight_map)) {
      opened[name] = files_.size();
      files_.emplace_back(file.parent_path() / name);
    }
    for (const auto& [tensor, name] : weight_map) {
      require<IoError>(files_[opened[name]].find(tensor) != nullptr, path_,
                       ": weight_map: ", printable(tensor), " is not in ", printable(name));
    }
  }
  for (size_t k = 0; k < files_.size(); ++k) {
    for (const TensorInfo& info : files_[k].tensors()) {
      const auto [at, is_new] = file_of_.try_emplace(info.name, k);
      require<IoError>(is_new, path_, ": ", printable(info.name), " is in two files, ",
                       files_[at->second].path(), " and ", files_[k].path());
    }
  }
}

const TensorInfo* FolderWeights::find(const std::string& name) const {
  const auto found = file_of_.find(name);
  return found == file_of_.end() ? nullptr : files_[found->second].find(name);
}

std::vector<std::string> FolderWeights::names() const {
  std::vector<std::string> names;
  for (const auto& entry : file_of_) names.push_back(entry.first);
  return names;
}

namespace {

bool all_zero(const std::vector<std::byte>& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// Saved by earlier versions of transformers; they follow from the config.
bool is_buffer(const std::string& name) {
  const std::vector<std::string> ends{".attn.bias", ".attn.masked_bias", ".attention.bias",
                                      ".attention.masked_bias", ".rotary_emb.inv_freq"};
  return std::any_of(ends.begin(), ends.end(),
                     [&](const std::string& end) { return name.ends_with(end); });
}

// "W_query.weight, W_key.weight and ..." would be long: the first, and how many more.
std::string our_names(const TheirTensor& tensor) {
  std::vector<std::string> names;
  for (const TensorPart& part : tensor.parts) {
    if (!part.ours.empty()) names.push_back(part.ours);
  }
  return names.empty()
             ? "no parameter"
             : names.front() + (names.size() > 1 ? text(" and ", names.size() - 1, " more") : "");
}

// The name in the file: with the prefix of the architecture, or without. An embedding that is the
// output layer too may be there under the name of that alone.
std::string name_in(const FolderWeights& weights, const Architecture& architecture,
                    const Gpt& model, const TheirTensor& tensor) {
  const std::string &theirs = tensor.name, &prefix = architecture.prefix;
  if (weights.find(theirs) != nullptr || !theirs.starts_with(prefix)) return theirs;
  const std::string plain = theirs.substr(prefix.size());
  const bool tied = model.config.tie_embeddings && tensor.parts.front().ours == "tok_emb.weight";
  return tied && weights.find(plain) == nullptr && weights.find(architecture.head) != nullptr
             ? architecture.head
             : plain;
}

bool is_ignored(const TheirTensor& tensor, const IsIgnored& ignored) {
  return ignored(tensor.name) ||
         std::any_of(tensor.parts.begin(), tensor.parts.end(), [&](const TensorPart& part) {
           return !part.ours.empty() && ignored(part.ours);
         });
}

// The output layer of a model whose output layer is its embedding, if a file has it nevertheless.
void check_tied_head(const Architecture& architecture, const FolderWeights& weights,
                     const std::string& embedding, TensorMistakes& mistakes) {
  const auto bytes_of = [&](const std::string& name) { return weights.file_of(name).bytes(name); };
  const TensorInfo* head = weights.find(architecture.head);
  const TensorInfo* other = weights.find(embedding);
  if (head != nullptr && other != nullptr &&
      (head->dtype != other->dtype || head->shape != other->shape ||
       bytes_of(head->name) != bytes_of(other->name))) {
    mistakes.add([&] {
      return text(architecture.head, ": differs from ", embedding,
                  ", to which it is tied (tie_word_embeddings)");
    });
  }
}

}  // namespace

void check_weights(const Architecture& architecture, const Gpt& model, const FolderWeights& weights,
                   const IsIgnored& ignored) {
  TensorMistakes mistakes(weights.path());
  std::set<std::string> known{architecture.head};
  const std::vector<TheirTensor> tensors = their_tensors(architecture, model);
  for (const TheirTensor& tensor : tensors) {
    const std::string name = name_in(weights, architecture, model, tensor);
    known.insert(name);
    if (is_ignored(tensor, ignored)) continue;
    const TensorInfo* info = weights.find(name);
    const TensorPart& first = tensor.parts.front();
    const auto add = [&](const auto&... parts) {
      mistakes.add([&] { return text(tensor.name, ", here ", our_names(tensor), ": ", parts...); });
    };
    if (info == nullptr) {
      add("missing, expected shape ", shape_text(tensor.shape()));
    } else if (!is_float(info->dtype)) {
      add("expected F64, F32, F16 or BF16, got ", dtype_name(info->dtype));
    } else if (info->shape != tensor.shape()) {
      add("expected shape ", shape_text(tensor.shape()), ", got ", shape_text(info->shape));
    } else if (first.ours.empty() && first.columns == 0 &&
               !all_zero(weights.file_of(name).bytes(name))) {
      add("expected zeros, as the model has no such bias");
    }
  }
  if (model.config.tie_embeddings) {
    check_tied_head(architecture, weights, name_in(weights, architecture, model, tensors.front()),
                    mistakes);
  }
  for (const std::string& name : weights.names()) {
    if (!known.contains(name) && !is_buffer(name) && !ignored(name)) {
      mistakes.add(
          [&] { return text(printable(name), ": not in this ", architecture.model_type); });
    }
  }
  mistakes.throw_if_any();
}

bool load_weights(const Architecture& architecture, Gpt& model, const FolderWeights& weights,
                  const IsIgnored& ignored) {
  const NoGrad off;
  std::map<std::string, Tensor> parameters = parameters_by_name(model);
  bool same = true;
  TensorMistakes mistakes(weights.path());
  for (const TheirTensor& tensor : their_tensors(architecture, model)) {
    if (is_ignored(tensor, ignored)) continue;
    const std::string name = name_in(weights, architecture, model, tensor);
    const Array theirs = weights.file_of(name).array(name);
    if (const std::string mistake = mistake_in_weights(theirs); !mistake.empty()) {
      mistakes.add([&] { return text(tensor.name, ", here ", our_names(tensor), ": ", mistake); });
    }
    const real* from = theirs.data();
    for (const TensorPart& part : tensor.parts) {
      if (part.ours.empty()) {
        part.for_each_number(tensor.rows(), [&](int64_t i, int64_t j) {
          same = same && part.fixed.data()[i] == from[j];
        });
        continue;
      }
      real* to = parameters.at(part.ours).mutable_value();
      part.for_each_number(tensor.rows(), [=](int64_t i, int64_t j) { to[i] = from[j]; });
    }
  }
  mistakes.throw_if_any();
  return same;
}

}  // namespace heed
