// Reads config structs from trees, where text becomes numbers once, and checks those made in C++.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "layers/config/fields.h"

namespace heed {

using Sizes = std::vector<std::pair<std::string, int64_t>>;  // by the name of a field

// Reads a struct in steps, where one part decides sizes of another. The arguments must outlive it.
class StructReader {
 public:
  // `is_made`: by C++ code, so that every field counts as given.
  StructReader(const ConfigRef& config, const ConfigNode& node, ConfigErrors& errors,
               const std::string& topic = "", bool is_made = false);

  // First the values and groups. Values that are absent are filled in, or keep their defaults.
  void read_values(const Fill& fill = {});
  // Then any part, by its name, with these sizes filled in. Mistakes in sizes that are only a guess
  // are left out.
  void read_part(const std::string& name, const Sizes& sizes, bool are_known = true);
  // Then the other parts, unknown keys and, if every field was read, check(). True in that case.
  bool finish();

 private:
  friend class PartReader;
  enum class State { absent, given, failed };

  void set_state(size_t k, bool ok) { states_[k] = ok ? State::given : State::failed; }
  bool has_failed() const;
  // Reports an absent field that is required.
  void require_given(size_t k);
  bool read_group(const FieldInfo& info, const ConfigRef& group);
  void read_part(size_t k);
  // Reports keys that are unknown or have no effect. Returns false if the node is not a map.
  bool is_map_of_known_keys();
  // Where a value was written that a part was filled in with; nullopt if it is wrong.
  std::optional<ConfigMark> place_of(const void* source) const;

  const ConfigRef config_;
  const ConfigNode& node_;
  ConfigErrors& errors_;
  const std::string topic_;
  const bool is_made_;
  bool sizes_are_known_ = true;
  std::vector<Field> fields_;
  std::vector<State> states_;                  // of each field
  std::map<std::string, const void*> filled_;  // by path: the value, in the struct around
  std::vector<ConfigMistake> of_filled_;       // of parts, in what they were filled in with
};

// Reads a struct from `node`, a map; an absent node counts as an empty map. Mistakes go to
// `errors`, and the fields concerned keep their defaults. `heed layers TOPIC` describes the fields.
// Then calls check(), if every field was read. Returns true in that case. `is_made`: as above.
bool read_struct(const ConfigRef& config, const ConfigNode& node, ConfigErrors& errors,
                 const std::string& topic = "", bool is_made = false);

// Holds a struct that C++ made to the same ranges and rules, and completes its parts. Throws
// ConfigError with all mistakes.
void check_struct(const ConfigRef& config);

// Reads the fields of one type of a kind, from a map without `type`. Nothing is filled in. Throws
// ConfigError for an unknown type, and with all mistakes.
Choice read_options(const std::string& kind, const std::string& type, const ConfigNode& options);

// Throws ConfigError with all mistakes.
template <class Config>
Config read_fields(const ConfigNode& node) {
  ConfigErrors errors;
  Config config;
  read_struct(config_ref(config), node, errors);
  errors.throw_if_any();
  return config;
}

// Returns the config with its parts completed. Throws ConfigError with all mistakes.
template <class Config>
Config checked(Config config) {
  check_struct(config_ref(config));
  return config;
}

}  // namespace heed
