// The types that a part may have, by kind ("layer", "optimizer", "schedule", "task"), and fields in
// words.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "layers/config/describe.h"

namespace heed {

struct ConfigType {
  std::string name;
  std::string help;
  const ConfigClass* config;
  // What is declared about the fields, with their defaults. Lives as long as the process.
  const std::vector<FieldInfo>& fields() const;
};

template <class Config>
ConfigType config_type(const std::string& name, const std::string& help) {
  return {name, help, &config_class<Config>};
}

// A choice of this type, with all defaults.
inline Choice new_choice(const ConfigType& type) {
  return {type.name, type.config, type.config->copy(nullptr)};
}

class ConfigTypes {
 public:
  explicit ConfigTypes(std::string kind) : kind_(std::move(kind)) {}
  // Throws ConfigError when the name is taken.
  void add(ConfigType type);
  const ConfigType* find(const std::string& name) const;  // null: unknown
  // The same, but throws ConfigError, naming the nearest, for an unknown name.
  const ConfigType& get(const std::string& name) const;
  std::vector<std::string> names() const;  // sorted
  // for (const auto& [name, type] : types)
  auto begin() const { return types_.begin(); }
  auto end() const { return types_.end(); }
  const std::string& kind() const { return kind_; }

 private:
  std::string kind_;
  std::map<std::string, ConfigType> types_;  // by name
};

// The process's table for a kind, empty until something is added. Add before threads start.
ConfigTypes& config_types(const std::string& kind);

// Adds the built-in types of a kind to its table, if they are missing. Config code does not depend
// on the registries, so the build generates this function together with register_layers() and its
// siblings (tools/cmake/write_registration.cmake). Declaring a nested part calls it, so that C++
// code can construct a layer that contains layers before it has used a registry.
void fill_types(const std::string& kind);

// Describes what a field accepts: "a whole number of at least 1".
std::string expected(const FieldInfo& info);

}  // namespace heed
