#include "train/config/resolve.h"

#include "train/config/paths.h"
#include "train/config/plugin_host.h"
#include "train/files/files.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

void resolve_path(ConfigNode& part, const fs::path& folder, const char* key, const char* name) {
  if (part.has(key) && !part.get(key).text().empty()) {
    const fs::path path = folder / part.get(key).text();
    const std::string absolute = fs::absolute(path).lexically_normal().string();
    require_utf8_path(name, absolute);
    part.set(key, absolute);
  }
}

}  // namespace

void resolve_data(ConfigNode& data, const fs::path& folder, const Task& dataset) {
  resolve_path(data, folder, "path", "data.path");
  resolve_path(data, folder, "validation", "data.validation");
  ConfigNode* const tokenizer = data.find("tokenizer");
  if (tokenizer != nullptr && tokenizer->has("fingerprint")) {
    resolve_path(*tokenizer, folder, "path", "data.tokenizer.path");
    tokenizer->set("fingerprint", fingerprint(as_bytes(dataset.tokenizer()->stored())).text());
  }
  std::string key = "fingerprint";
  for (const fs::path& file : dataset.files()) {
    if (data.has(key)) {
      data.set(key, fingerprint_file(file).text());
    }
    key = "validation_fingerprint";
  }
}

void resolve_plugins(ConfigNode& config, const fs::path& folder) {
  const std::vector<std::string> needed = plugin_host().needed_by(config, folder);
  for (const std::string& plugin : needed) {
    require_utf8_path("plugins", plugin);
  }
  if (needed.empty()) {
    config.erase("plugins");
  } else {
    config.set("plugins", ConfigNode::list({needed.begin(), needed.end()}));
  }
}

}  // namespace heed
