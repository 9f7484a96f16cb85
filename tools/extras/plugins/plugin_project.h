// The project of a user's plugin: a folder whose CMakeLists.txt calls heedgrad_add_plugin, as
// `heed new` writes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace heed::cli {

// Files of a call: heedgrad_add_plugin(NAME headers... TESTS tests... CONFIGS configs...)
struct PluginFiles {
  std::vector<std::string> headers, tests, configs;
};

// The line that builds a plugin of these files alone.
std::string plugin_line(const std::string& name, const PluginFiles& files);

class PluginProject {
 public:
  // `cmake` is the text of a CMakeLists.txt.
  explicit PluginProject(std::string cmake);

  bool calls() const { return calls_ > 0; }
  // The plugin that files can be added to. "" if there are several calls, or one that only CMake
  // can read: with variables, quotes or comments.
  const std::string& plugin() const { return plugin_; }
  // The text with these files added to the call. Requires a plugin().
  std::string with(const PluginFiles& files) const;

 private:
  // The end of the last word that belongs to NAME, TESTS or CONFIGS; absent without the keyword.
  struct Ends {
    size_t headers = 0;
    std::optional<size_t> tests, configs;
    size_t call = 0;  // of the last word of all
  };
  void read_call(size_t begin);

  std::string cmake_;
  int calls_ = 0;
  std::string plugin_;
  Ends ends_;
};

}  // namespace heed::cli
