// Children that a config leaves out, and lists of equal ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "layers/module/module.h"

namespace heed {

// A child, or none. Its config is not read unless it exists.
template <class Layer, class Config>
std::optional<Child<Layer>> optional_child(bool exists, Module* parent, const std::string& name,
                                           const Config& config) {
  return exists ? std::optional(Child<Layer>(parent, name, config)) : std::nullopt;
}

// `count` children of one config: `name.0`, `name.1`, ...
template <class Layer, class Config>
std::vector<Child<Layer>> child_list(Module* parent, const std::string& name, int64_t count,
                                     const Config& config) {
  std::vector<Child<Layer>> children;
  for (int64_t i = 0; i < count; ++i) {
    children.emplace_back(parent, name + "." + std::to_string(i), config);
  }
  return children;
}

}  // namespace heed
