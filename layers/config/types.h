#pragma once
// The types a Spec may name, by kind ("layer", "optimizer", "schedule", "task"), and what can be
// derived from a list of fields: the documentation and the options a gradient check has to try.
#include <functional>
#include <string>
#include <vector>

#include "layers/config/fields.h"

namespace heed {

struct ConfigType {
  std::string name;
  std::string help;
  std::function<const std::vector<FieldInfo>&()> fields;
  // Reads the fields (a map without `type`) and returns them with all defaults.
  std::function<ConfigNode(const ConfigNode& options, ConfigErrors& errors)> complete;
};

template <class Config>
ConfigType config_type(const std::string& name, const std::string& help) {
  const auto listed = []() -> const std::vector<FieldInfo>& {
    static const std::vector<FieldInfo> infos = list_fields<Config>();
    return infos;
  };
  return {name, help, listed, [name](const ConfigNode& options, ConfigErrors& errors) {
            Config config;
            Fields fields(options, errors, name);
            fields.run(config);
            return fields.values();
          }};
}

class ConfigTypes {
 public:
  explicit ConfigTypes(std::string kind) : kind_(std::move(kind)) {}
  // Throws ConfigError when the name is taken.
  void add(ConfigType type);
  const ConfigType* find(const std::string& name) const;  // null: unknown; valid until the next add
  std::vector<std::string> names() const;                 // sorted
  const std::string& kind() const { return kind_; }

 private:
  std::string kind_;
  std::vector<ConfigType> types_;  // sorted by name
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

// Describes what happens if the field is absent: "default 4", "required" or "optional".
std::string default_words(const FieldInfo& info);

// The required fields with their example values or, if none is declared, a value within the range.
ConfigNode example_config(const std::vector<FieldInfo>& fields);

// The example config, followed by one config for every other value of each option: booleans both
// ways, every choice, off-words, and the values of also_try. Each differs from the example in one
// option.
std::vector<ConfigNode> option_variants(const std::vector<FieldInfo>& fields);

}  // namespace heed
