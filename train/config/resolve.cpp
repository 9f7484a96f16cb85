#include "train/config/resolve.h"

#include "layers/text/display.h"
#include "layers/text/utf8.h"
#include "train/files/files.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

// The node at "data.tokenizer.path"; null if there is none.
ConfigNode* node_at(ConfigNode& tree, const std::string& path) {
  const size_t dot = path.find('.');
  ConfigNode* const node = tree.find(path.substr(0, dot));
  return node == nullptr || dot == std::string::npos ? node : node_at(*node, path.substr(dot + 1));
}

// Of a list, each.
void make_absolute(ConfigNode* path, const fs::path& folder = "") {
  for (int64_t i = 0; path != nullptr && i < path->size(); ++i) {
    make_absolute(&path->at(i), folder);
  }
  if (path != nullptr && path->is_scalar() && !path->is_null() && !path->text().empty()) {
    const std::string absolute = fs::absolute(folder / path->text()).lexically_normal().string();
    require_utf8_path(path->path().c_str(), absolute);
    path->assign(absolute);
  }
}

}  // namespace

std::vector<std::string> keys_of_files() {
  std::vector<std::string> keys;
  for (const FieldInfo& field : run_fields()) {
    if (field.is_path) keys.push_back(field.name);
    for (const FieldInfo& inner : field.group) {
      if (inner.is_path) keys.push_back(field.name + "." + inner.name);
    }
  }
  return keys;
}

void make_set_paths_absolute(ConfigNode& tree, const std::string& key) {
  const auto is_set = [&](const std::string& path) {
    return path == key || path.starts_with(key + ".");
  };
  std::vector<std::string> paths = keys_of_files();
  paths.insert(paths.end(), {"data.path", "data.validation", "data.tokenizer.path"});
  for (const std::string& path : paths) {
    ConfigNode* const node = node_at(tree, path);
    if (is_set(path)) make_absolute(node);
    for (int64_t i = 0; node != nullptr && node->is_list() && i < node->size(); ++i) {
      if (key == text(path, ".", i)) make_absolute(&node->at(i));
    }
  }
}

void require_utf8_path(const char* key, const std::string& path) {
  require<ConfigError>(
      first_wrong_byte(path) == path.size(), key, ": ", printable(path, 200),
      ": expected a path in UTF-8, which config.yaml can hold; rename the folder or the file");
}

void resolve_data(ConfigNode& data, const fs::path& folder, const Task& dataset) {
  make_absolute(data.find("path"), folder);
  make_absolute(data.find("validation"), folder);
  ConfigNode* const tokenizer = data.find("tokenizer");
  if (tokenizer != nullptr && tokenizer->has("fingerprint")) {
    make_absolute(tokenizer->find("path"), folder);
    tokenizer->set("fingerprint", fingerprint(as_bytes(dataset.tokenizer()->stored())).text());
  }
  std::string key = "fingerprint";
  if (!dataset.fingerprint().empty()) data.set(key, dataset.fingerprint());
  for (const fs::path& file : dataset.files()) {
    if (data.has(key)) {
      data.set(key, fingerprint_file(file).text());
    }
    key = "validation_fingerprint";
  }
}

}  // namespace heed
