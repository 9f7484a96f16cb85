// Children that a config leaves out, and lists of children.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "layers/module/module.h"

namespace heed {

// A child, or none. Its config is not read unless it exists.
template <class Layer, class Config>
std::optional<Child<Layer>> optional_child(bool exists, Module* parent, const std::string& name,
                                           const Config& config) {
  return exists ? std::optional(Child<Layer>(parent, name, config)) : std::nullopt;
}

// A child that was made, or none for null.
template <class Layer>
std::optional<Child<Layer>> optional_child(Module* parent, const std::string& name,
                                           std::unique_ptr<Layer> layer) {
  return layer ? std::optional(Child<Layer>(parent, name, std::move(layer))) : std::nullopt;
}

// `count` children `name.0`, `name.1`, ...: all of one config, or child i of config(i).
template <class Layer, class Config>
std::vector<Child<Layer>> child_list(Module* parent, const std::string& name, int64_t count,
                                     const Config& config) {
  std::vector<Child<Layer>> children;
  for (int64_t i = 0; i < count; ++i) {
    const std::string child = name + "." + std::to_string(i);
    if constexpr (std::is_invocable_v<const Config&, int64_t>) {
      children.emplace_back(parent, child, config(i));
    } else {
      children.emplace_back(parent, child, config);
    }
  }
  return children;
}

}  // namespace heed
