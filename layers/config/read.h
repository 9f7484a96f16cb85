// Reads config structs from trees, where text becomes numbers once, and checks those made in C++.
#pragma once

#include <string>

#include "layers/config/fields.h"

namespace heed {

// Reads a struct from `node`, a map; an absent node counts as an empty map. Mistakes go to
// `errors`, and the fields concerned keep their defaults. `heed layers TOPIC` describes the fields.
// Then calls check(), if every field was read. Returns true in that case.
bool read_struct(const ConfigRef& config, const ConfigNode& node, ConfigErrors& errors,
                 const std::string& topic = "");

// Holds a struct that C++ made to the same ranges and rules, and completes its parts.
bool check_struct(const ConfigRef& config, ConfigErrors& errors);

// Reads the fields of one type of a kind, from a map without `type`. Nothing is filled in. Throws
// ConfigError for an unknown type; returns no choice if there were other mistakes.
Choice read_options(const std::string& kind, const std::string& type, const ConfigNode& options,
                    ConfigErrors& errors);
// The same, but throws ConfigError with all mistakes.
Choice read_options(const std::string& kind, const std::string& type, const ConfigNode& options);

template <class Config>
Config read_fields(const ConfigNode& node, ConfigErrors& errors) {
  Config config;
  read_struct(config_ref(config), node, errors);
  return config;
}
// The same, but throws ConfigError with all mistakes.
template <class Config>
Config read_fields(const ConfigNode& node) {
  ConfigErrors errors;
  Config config = read_fields<Config>(node, errors);
  errors.throw_if_any();
  return config;
}

// Returns the config with its parts completed. Throws ConfigError with all mistakes.
template <class Config>
Config checked(Config config) {
  ConfigErrors errors;
  check_struct(config_ref(config), errors);
  errors.throw_if_any();
  return config;
}

}  // namespace heed
