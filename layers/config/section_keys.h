// Keys that an extra adds to a section of a config. A header with a struct that declares them, as
// any config struct does (fields.h), and a line HEED_KEYS(Class, "section") is enough:
//   struct ColourKeys {
//     bool colour = false;
//     void fields(Fields& f) { f.optional("colour", colour, "whether lines have one"); }
//   };
//   HEED_KEYS(ColourKeys, "train");
// They are read, checked, documented and written as the section's own are. Those of "run" stand
// beside the sections. The build reads their names from the header, for builds without the extra
// (left_out.h); so it has no other fields.
#pragma once

#include <map>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include "layers/config/fields.h"

namespace heed {

class KeysRegistry {
 public:
  using Entry = std::pair<std::type_index, const ConfigClass*>;

  template <class Keys>
  void add(const std::string& section) {
    sections_[section].emplace_back(typeid(Keys), &config_class<Keys>);
  }
  const std::vector<Entry>& of(const std::string& section) { return sections_[section]; }

 private:
  std::map<std::string, std::vector<Entry>> sections_;
};

KeysRegistry& keys_registry();
void register_keys(KeysRegistry& registry);

#define HEED_KEYS(Class, section) \
  static_assert(                  \
      requires(Class keys, heed::Fields & f) { keys.fields(f); }, #Class " needs fields()")

// The structs that are registered for a section, with their values.
class SectionKeys {
 public:
  explicit SectionKeys(const std::string& section);

  // Throws ConfigError if it is not registered.
  template <class Keys>
  const Keys& get() const {
    return *static_cast<const Keys*>(keys_[index_of(typeid(Keys))].second.config().config);
  }
  // To be changed, in these keys alone.
  template <class Keys>
  Keys& own() {
    return *static_cast<Keys*>(keys_[index_of(typeid(Keys))].second.own_config().config);
  }

  // For fields() and check() of the section.
  void own_fields(Fields& f);
  void check(ConfigErrors& errors, const ConfigNode& at) const;

 private:
  size_t index_of(std::type_index type) const;

  std::vector<std::pair<std::type_index, Choice>> keys_;
};

}  // namespace heed
