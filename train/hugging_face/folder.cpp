#include "train/hugging_face/folder.h"

#include <algorithm>
#include <set>

#include "autograd/base/modes.h"
#include "layers/text/display.h"
#include "train/hugging_face/json.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

constexpr const char* one_file = "model.safetensors";
constexpr const char* index_file = "model.safetensors.index.json";
constexpr size_t most_files = 1000;

bool is_index(const fs::path& file) { return file.extension() == ".json"; }

std::map<std::string, std::string> read_weight_map(const fs::path& index) {
  auto files = parse_weight_map(read_file(index, json_limits::index_bytes), index.string());
  std::set<std::string> different;
  for (const auto& [tensor, file] : files) {
    different.insert(file);
  }
  require<IoError>(different.size() <= most_files, index.string(), ": expected at most ",
                   most_files, " files, got ", different.size());
  return files;
}

std::set<std::string> files_in(const std::map<std::string, std::string>& weight_map) {
  std::set<std::string> files;
  for (const auto& entry : weight_map) {
    files.insert(entry.second);
  }
  return files;
}

}  // namespace

bool is_hugging_face_folder(const fs::path& folder) {
  const fs::path config = folder / "config.json";
  std::error_code error;
  if (!fs::exists(config, error)) {
    return false;
  }
  return read_json(config).has("model_type");
}

fs::path weights_file(const fs::path& folder) {
  std::error_code error;
  for (const char* name : {index_file, one_file}) {
    if (fs::exists(folder / name, error)) {
      return folder / name;
    }
  }
  const bool pickled = fs::exists(folder / "pytorch_model.bin", error);
  fail<IoError>(folder.string(), ": expected ", one_file, " or ", index_file, ", got neither",
                pickled ? "; pytorch_model.bin can run code and is not read: save_pretrained() of "
                          "transformers makes a safetensors file of it"
                        : "");
}

Fingerprint weights_fingerprint(const fs::path& file) {
  const Fingerprint own = fingerprint_file(file);
  if (!is_index(file)) {
    return own;
  }
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

const SafeTensors& FolderWeights::file_of(const std::string& name) const {
  return files_[file_of_.at(name)];
}

const TensorInfo* FolderWeights::find(const std::string& name) const {
  const auto found = file_of_.find(name);
  return found == file_of_.end() ? nullptr : files_[found->second].find(name);
}

Array FolderWeights::array(const std::string& name) const { return file_of(name).array(name); }

std::vector<std::byte> FolderWeights::bytes(const std::string& name) const {
  return file_of(name).bytes(name);
}

std::vector<std::string> FolderWeights::names() const {
  std::vector<std::string> names;
  for (const auto& entry : file_of_) {
    names.push_back(entry.first);
  }
  return names;
}

namespace {

std::string shape_text(const std::vector<int64_t>& dims) {
  return text(Shape(std::span<const int64_t>(dims)));
}

bool is_float(Dtype dtype) {
  return dtype == Dtype::F64 || dtype == Dtype::F32 || dtype == Dtype::F16 || dtype == Dtype::BF16;
}

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

// One tensor of theirs with all its parts.
struct Group {
  std::string theirs;
  std::vector<TensorPair> parts;

  std::vector<int64_t> shape() const {
    int64_t rows = 0;
    for (const TensorPair& part : parts) {
      rows += part.rows;
    }
    const int64_t columns = parts.front().columns;
    return columns == 0               ? std::vector<int64_t>{rows}
           : parts.front().transposed ? std::vector<int64_t>{columns, rows}
                                      : std::vector<int64_t>{rows, columns};
  }
  // "W_query.weight, W_key.weight and ..." would be long: the first, and how many more.
  std::string ours() const {
    std::vector<std::string> names;
    for (const TensorPair& part : parts) {
      if (!part.ours.empty()) names.push_back(part.ours);
    }
    return names.empty()
               ? "no parameter"
               : names.front() + (names.size() > 1 ? text(" and ", names.size() - 1, " more") : "");
  }
};

std::vector<Group> groups_of(const Architecture& architecture, const Gpt& model) {
  std::vector<Group> groups;
  for (TensorPair& pair : tensor_pairs(architecture, model)) {
    if (groups.empty() || groups.back().theirs != pair.theirs) {
      groups.push_back({pair.theirs, {}});
    }
    groups.back().parts.push_back(std::move(pair));
  }
  return groups;
}

// The name in the file: with the prefix of the architecture, or without.
std::string name_in(const FolderWeights& weights, const Architecture& architecture,
                    const std::string& theirs) {
  const std::string& prefix = architecture.prefix;
  if (weights.find(theirs) == nullptr && theirs.starts_with(prefix)) {
    return theirs.substr(prefix.size());
  }
  return theirs;
}

bool is_ignored(const Group& group, const IsIgnored& ignored) {
  return ignored(group.theirs) ||
         std::any_of(group.parts.begin(), group.parts.end(), [&](const TensorPair& part) {
           return !part.ours.empty() && ignored(part.ours);
         });
}

class Mistakes {
 public:
  template <class... Parts>
  void add(const Parts&... parts) {
    if (count_++ < most) {
      lines_ += (lines_.empty() ? "" : "\n") + text(parts...);
    }
  }
  void throw_any(const std::string& path) const {
    require<IoError>(count_ == 0, lines_,
                     count_ > most ? text("\n", path, ": and ", count_ - most, " more") : "");
  }

 private:
  static constexpr size_t most = 10;
  size_t count_ = 0;
  std::string lines_;
};

// The output layer of a model whose output layer is its embedding, if a file has it nevertheless.
void check_tied_head(const Architecture& architecture, const FolderWeights& weights,
                     const std::string& embedding, Mistakes& mistakes) {
  const TensorInfo* head = weights.find(architecture.head);
  const TensorInfo* other = weights.find(embedding);
  if (head != nullptr && other != nullptr &&
      (head->dtype != other->dtype || head->shape != other->shape ||
       weights.bytes(head->name) != weights.bytes(other->name))) {
    mistakes.add(weights.path(), ": ", architecture.head, ": differs from ", embedding,
                 ", to which it is tied (tie_word_embeddings)");
  }
}

}  // namespace

void check_weights(const Architecture& architecture, const Gpt& model, const FolderWeights& weights,
                   const IsIgnored& ignored) {
  Mistakes mistakes;
  std::set<std::string> known{architecture.head};
  const std::vector<Group> groups = groups_of(architecture, model);
  for (const Group& group : groups) {
    const std::string name = name_in(weights, architecture, group.theirs);
    known.insert(name);
    if (is_ignored(group, ignored)) {
      continue;
    }
    const TensorInfo* info = weights.find(name);
    const std::string what = text(group.theirs, ", here ", group.ours(), ": ");
    if (info == nullptr) {
      mistakes.add(weights.path(), ": ", what, "missing, expected shape ",
                   shape_text(group.shape()));
    } else if (!is_float(info->dtype)) {
      mistakes.add(weights.path(), ": ", what, "expected F64, F32, F16 or BF16, got ",
                   dtype_name(info->dtype));
    } else if (info->shape != group.shape()) {
      mistakes.add(weights.path(), ": ", what, "expected shape ", shape_text(group.shape()),
                   ", got ", shape_text(info->shape));
    } else if (group.parts.front().ours.empty() && group.parts.front().columns == 0 &&
               !all_zero(weights.bytes(name))) {
      mistakes.add(weights.path(), ": ", what, "expected zeros, as the model has no such bias");
    }
  }
  if (model.config.tie_embeddings) {
    check_tied_head(architecture, weights, name_in(weights, architecture, groups.front().theirs),
                    mistakes);
  }
  for (const std::string& name : weights.names()) {
    if (!known.contains(name) && !is_buffer(name) && !ignored(name)) {
      mistakes.add(weights.path(), ": ", printable(name), ": not in this ",
                   architecture.model_type);
    }
  }
  mistakes.throw_any(weights.path());
}

namespace {

// The numbers of theirs that make up a part, in the order of our rows.
template <class Each>
void for_each_number(const TensorPair& pair, const Array& theirs, const Each& each) {
  const int64_t columns = std::max<int64_t>(1, pair.columns);
  const int64_t their_rows = theirs.size() / columns;
  const real* from = theirs.data();
  for (int64_t r = 0; r < pair.rows; ++r) {
    const int64_t row = pair.their_row_of(r);
    for (int64_t c = 0; c < columns; ++c) {
      each((pair.our_row + r) * columns + c,
           from[pair.transposed ? c * their_rows + row : row * columns + c]);
    }
  }
}

}  // namespace

bool load_weights(const Architecture& architecture, Gpt& model, const FolderWeights& weights,
                  const IsIgnored& ignored) {
  const NoGrad off;
  std::map<std::string, Tensor> parameters;
  for (const NamedParameter& parameter : model.parameters()) {
    parameters.emplace(parameter.name, parameter.tensor);
  }
  bool same = true;
  Mistakes mistakes;
  for (const Group& group : groups_of(architecture, model)) {
    if (is_ignored(group, ignored)) {
      continue;
    }
    const Array theirs = weights.array(name_in(weights, architecture, group.theirs));
    if (const std::string mistake = mistake_in_weights(theirs); !mistake.empty()) {
      mistakes.add(weights.path(), ": ", group.theirs, ", here ", group.ours(), ": ", mistake);
    }
    for (const TensorPair& part : group.parts) {
      if (part.ours.empty()) {
        const int64_t before = part.our_row * std::max<int64_t>(1, part.columns);
        for_each_number(part, theirs, [&](int64_t i, real value) {
          same = same && part.fixed.data()[i - before] == value;
        });
        continue;
      }
      real* to = parameters.at(part.ours).mutable_value();
      for_each_number(part, theirs, [&](int64_t i, real value) { to[i] = value; });
    }
  }
  mistakes.throw_any(weights.path());
  return same;
}

}  // namespace heed
