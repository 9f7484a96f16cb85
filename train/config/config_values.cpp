#include "train/config/config_values.h"

namespace heed {

namespace {

void flatten(const ConfigNode& node, std::map<std::string, std::string>& values) {
  if (node.is_scalar()) {
    values[node.path()] = node.text();
  }
  for (const ConfigNode& child : node.children()) {
    flatten(child, values);
  }
}

}  // namespace

std::map<std::string, std::string> flat_values(const ConfigNode& config) {
  std::map<std::string, std::string> values;
  flatten(config, values);
  return values;
}

}  // namespace heed
