#include "train/config/paths.h"

#include <filesystem>

#include "autograd/base/error.h"
#include "layers/text/display.h"
#include "layers/text/utf8.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

void make_absolute(ConfigNode* path) {
  if (path != nullptr && path->is_scalar() && !path->is_null() && !path->text().empty() &&
      fs::path(path->text()).is_relative()) {
    path->assign(fs::absolute(path->text()).lexically_normal().string());
  }
}

}  // namespace

void make_set_paths_absolute(ConfigNode& tree, const std::string& key) {
  ConfigNode *data = tree.find("data"), *plugins = tree.find("plugins"),
             *train = tree.find("train");
  if (data != nullptr && data->is_map() && (key == "data" || key == "data.path")) {
    make_absolute(data->find("path"));
  }
  if (data != nullptr && data->is_map() && (key == "data" || key == "data.validation")) {
    make_absolute(data->find("validation"));
  }
  ConfigNode* const tokenizer = data != nullptr ? data->find("tokenizer") : nullptr;
  if (tokenizer != nullptr && tokenizer->is_map() &&
      (key == "data" || key == "data.tokenizer" || key == "data.tokenizer.path")) {
    make_absolute(tokenizer->find("path"));
  }
  if (train != nullptr && train->is_map() && (key == "train" || key == "train.weights")) {
    make_absolute(train->find("weights"));
  }
  for (int64_t i = 0; plugins != nullptr && plugins->is_list() && i < plugins->size(); ++i) {
    if (key == "plugins" || key == text("plugins.", i)) {
      make_absolute(&plugins->at(i));
    }
  }
}

void require_utf8_path(const char* key, const std::string& path) {
  require<ConfigError>(
      first_wrong_byte(path) == path.size(), key, ": ", printable(path, 200),
      ": expected a path in UTF-8, which config.yaml can hold; rename the folder or the file");
}

}  // namespace heed
