// The values of a config.json, and which of its keys have been asked for.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "layers/config/node.h"

namespace heed {

class Keys {
 public:
  // `json` must outlive it. `where` begins messages.
  Keys(const ConfigNode& json, std::string where) : json_(json), where_(std::move(where)) {}

  // The value; absent if it is null or there is none.
  const ConfigNode& get(const std::string& key);
  bool has(const std::string& key) { return !get(key).is_absent(); }

  // Each returns `usual` if the key is absent and throws IoError for a value of another kind.
  int64_t size(const std::string& key, int64_t usual);  // a whole number from 1
  double number(const std::string& key, double usual);
  bool flag(const std::string& key, bool usual);
  std::string words(const std::string& key, const std::string& usual);
  // As number(), of a value within that of the key.
  double number_of(const ConfigNode& value, const std::string& key, double usual) const;

  // Keys that are read later, or have no effect on numbers, with blanks between them.
  void ignore(const std::string& keys);
  // Throw ConfigError for a flag that is not as heed has it, and for anything but an empty list.
  void require_flag(const std::string& key, bool as_here, bool usual);
  void require_none(const std::string& key);
  // The keys that nothing has asked for and that say something: more than null, false, [] or {}.
  std::vector<std::string> unknown() const;

  // Throws IoError: the value makes no sense.
  [[noreturn]] void refuse(const std::string& key, const std::string& expected) const;
  // Throws ConfigError: it makes sense, but heed has no such model.
  [[noreturn]] void cannot(const std::string& key, const std::string& here,
                           const std::string& since = "heed has nothing else") const;

 private:
  std::string shown(const std::string& key) const;

  const ConfigNode& json_;
  const std::string where_;
  std::set<std::string> known_;
};

}  // namespace heed
