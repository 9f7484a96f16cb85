#include "train/yaml/yaml_set.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "autograd/base/rethrow.h"
#include "layers/config/text.h"
#include "train/yaml/yaml.h"
#include "train/yaml/yaml_text.h"

namespace heed {

namespace {

// A key in the path of an argument, and the column where it starts.
using PathKey = std::pair<std::string, int64_t>;

std::vector<PathKey> split_path(const std::string& path) {
  std::vector<PathKey> keys;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    keys.emplace_back(path.substr(begin, end - begin), static_cast<int64_t>(begin) + 1);
    begin = end + 1;
  }
  return keys;
}

int64_t levels_of(const ConfigNode& node) {
  int64_t deepest = 0;
  for (const ConfigNode& child : node.children()) {
    deepest = std::max(deepest, levels_of(child));
  }
  return node.is_scalar() ? 0 : deepest + 1;
}

// The child of `node` with this key. Creates it if a map does not have it; null after an error.
ConfigNode* step(ConfigNode& node, const std::string& key, const ConfigMark& mark,
                 ConfigErrors& errors) {
  const std::string path = join_path(node.path(), key);
  if (node.is_list()) {
    const bool number = key.size() < 6 && key.find_first_not_of("0123456789") == std::string::npos;
    const int64_t index = number ? std::atoll(key.c_str()) : -1;
    if (number && index < node.size()) {
      return &node.at(index);
    }
    errors.add_at(
        mark, path,
        text(node.path(), " is a list of ", node.size(),
             "; expected the number of an element, counted from 0, got ", printable(key)));
    return nullptr;
  }
  if (node.is_scalar() && !node.is_null()) {
    errors.add_at(mark, path, text(node.path(), " is ", in_words(node), ", which has no keys"));
    return nullptr;
  }
  if (ConfigNode* child = node.find(key)) {
    return child;
  }
  return &node.set(key, ConfigNode(), mark);
}

}  // namespace

void apply_set(ConfigNode& root, const std::string& argument, ConfigErrors& errors) {
  const auto file =
      std::make_shared<const std::string>(command_line_prefix + printable(argument, 100));
  const size_t equals = argument.find('=');
  if (equals == std::string::npos) {
    errors.add_at({file, 1, 1}, "", "expected KEY=VALUE, such as train.steps=100; there is no =");
    return;
  }
  const std::vector<PathKey> keys = split_path(argument.substr(0, equals));
  for (const auto& [key, column] : keys) {
    if (key.empty() || key.size() > longest_key ||
        key.find_first_of(" \t\n\r") != std::string::npos) {
      errors.add_at(
          {file, 1, column}, "",
          "expected a key, got \"" + printable(key) + "\"; keys are words joined by dots");
      return;
    }
  }
  const std::string text_of_value = argument.substr(equals + 1);
  const ConfigMark value_mark = {file, 1, static_cast<int64_t>(equals) + 2};
  ConfigNode value;
  if (error_of<ConfigError>([&] { value = parse_value(text_of_value, value_mark, errors); })) {
    return;  // it is among `errors`; other arguments may have more
  }
  if (value.is_absent()) {
    value = ConfigNode::scalar("", false);
    value.set_mark(value_mark);
  }
  if (static_cast<int64_t>(keys.size()) + levels_of(value) > static_cast<int64_t>(most_levels)) {
    errors.add_at({file, 1, 1}, "", text("nested more than ", most_levels, " levels deep"));
    return;
  }
  ConfigNode* node = &root;
  ConfigNode* parent = &root;
  for (const auto& [key, column] : keys) {
    parent = node;
    node = step(*parent, key, {file, 1, column}, errors);
    if (!node) {
      return;
    }
  }
  if (parent->is_map()) {  // record the key's position on the command line
    parent->set(keys.back().first, std::move(value), {file, 1, keys.back().second});
  } else {
    node->assign(std::move(value));
  }
}

}  // namespace heed
