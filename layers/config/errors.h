#pragma once
// Collects the mistakes of a config, so that all of them can be reported at once.
#include <cstdint>
#include <string>
#include <vector>

#include "layers/config/node.h"
#include "layers/config/text.h"

namespace heed {

// All mistakes of a config. Each prints as `file:line:column: path: message`.
class ConfigErrors {
 public:
  // Adds a mistake in the value of a node.
  template <class... Parts>
  void add(const ConfigNode& node, const Parts&... parts) {
    add_at(node.mark(), node.path(), heed::text(parts...));
  }
  // Adds a mistake in a field of a map, located at its value, or at the map if the field is absent.
  template <class... Parts>
  void add_field(const ConfigNode& map, const std::string& key, const Parts&... parts) {
    const ConfigNode* child = map.find(key);
    add_at(child ? child->mark() : map.mark(), join_path(map.path(), key), heed::text(parts...));
  }
  void add_at(const ConfigMark& mark, const std::string& path, const std::string& message);
  // Adds the mistakes of `other`, except those at one of the paths in `excused`.
  void add_all(const ConfigErrors& other, const std::vector<std::string>& excused = {});

  bool empty() const { return mistakes_.empty(); }
  int64_t count() const { return static_cast<int64_t>(mistakes_.size()); }
  // The messages without duplicates, sorted by location: files in the order of their first mistake,
  // then the command line.
  std::vector<std::string> lines() const;
  // Throws ConfigError with the lines joined by newlines; after 200 it only counts the rest.
  void throw_if_any() const;

 private:
  struct Mistake {
    ConfigMark mark;
    std::string path;
    std::string message;
  };
  std::vector<Mistake> mistakes_;
};

}  // namespace heed
