// Collects the mistakes of a config, so that all of them can be reported at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "layers/config/node.h"
#include "layers/config/text.h"
#include "layers/text/display.h"

namespace heed {

struct ConfigMistake {
  ConfigMark mark;
  std::string path;
  std::string message;
  std::string unknown_key = "";  // the key, if that is the mistake
};

// An error whose message is the lines of these mistakes, in this order.
struct ListsMistakes {
  std::vector<ConfigMistake> mistakes;
};

// Thrown with all mistakes of a config, as lines and one by one.
class ConfigMistakes : public ConfigError, public ListsMistakes {
 public:
  ConfigMistakes(const std::string& lines, std::vector<ConfigMistake> all)
      : ConfigError(lines), ListsMistakes{std::move(all)} {}
  bool has_place() const override { return true; }
};

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
  // Reports a field that is set and changes nothing: "has no effect " and why.
  template <class... Parts>
  void has_no_effect(const ConfigNode& map, const char* key, bool is_set, const Parts&... why) {
    if (is_set) add_field(map, key, "has no effect ", why...);
  }
  // Reports the field of a map whose value does not divide that of another. True if it does.
  bool check_divides(const ConfigNode& map, const std::string& field, int64_t value,
                     const std::string& other, int64_t value_of_other);
  void add_at(const ConfigMark& mark, const std::string& path, const std::string& message) {
    add({mark, path, message});
  }
  void add(ConfigMistake mistake) { mistakes_.push_back(std::move(mistake)); }

  // Replaces the message about each unknown key by reword(mistake).
  void reword_unknown_keys(const std::function<std::string(const ConfigMistake&)>& reword);

  // Removes the mistakes that follow from something else.
  void excuse(const std::function<bool(const ConfigMistake&)>& follows);

  // True if a mistake has this path or one below it.
  bool are_within(const std::string& path) const;
  const std::vector<ConfigMistake>& all() const { return mistakes_; }
  bool empty() const { return mistakes_.empty(); }
  int64_t count() const { return static_cast<int64_t>(mistakes_.size()); }
  // What to throw: a line each, without duplicates, sorted by location: files in the order of their
  // first mistake, then the command line. Its text has 200 of them, and counts the rest.
  ConfigMistakes exception() const;
  void throw_if_any() const {
    if (!empty()) throw exception();
  }

 private:
  // Without duplicates, in the order of exception().
  std::vector<ConfigMistake> sorted() const;

  std::vector<ConfigMistake> mistakes_;
};

}  // namespace heed
