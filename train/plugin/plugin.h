// Plugins: shared libraries that add layers, tasks, optimizers and schedules by name. CMake's
// heedgrad_add_plugin builds them from headers with HEED_LAYER lines, one a precision, side by
// side: libmine.so and libmine-f64.so. Either name stands for the one of this process.
//
// Version, precision and standard library stand in the file as text and are compared before any of
// its code runs: what does not fit is refused, with both sides named.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "layers/config/members.h"
#include "train/data/task.h"
#include "train/optim/optimizer.h"
#include "train/optim/schedule.h"

namespace heed {

// Loads the plugin at `path`, or its sibling of the other precision; one that is loaded already
// stays. Throws IoError for a file that is missing, no plugin or built against something else, and
// ConfigError, with nothing added, for a name that is taken.
void load_plugin(const std::filesystem::path& path);

// Those that a config names under `plugins`, relative to `folder`. One that load_plugin() was given
// under the same file name takes the place of the path: it may have moved since.
void load_plugins(const ConfigNode& config, const std::filesystem::path& folder);

// The plugins that a config needs, as absolute paths under their float32 names: those that it names
// and those that one of its types comes from.
std::vector<std::string> plugins_of(const ConfigNode& config, const std::filesystem::path& folder);

// How many fields the Config of a layer from a plugin has; 0 when that is not known.
int64_t config_members_of(const std::string& layer);

// What the function of a plugin is given.
class PluginRegistration {
 public:
  // In a first pass the names are only looked at: when one is taken, nothing is added.
  enum class Pass { look, add };
  PluginRegistration(std::string plugin, Pass pass) : plugin_(std::move(plugin)), pass_(pass) {}

  template <class Class, class Registry>
  void add(Registry& registry, const std::string& name) {
    if (pass_ == Pass::look) {
      require_free(registry.types(), name);
    } else {
      note(registry.types().kind(), name, config_members<typename Class::Config>());
      registry.template add<Class>(name);
    }
  }

 private:
  void require_free(const ConfigTypes& types, const std::string& name) const;
  void note(const std::string& kind, const std::string& name, int64_t members) const;

  std::string plugin_;  // "libmine.so"
  Pass pass_;
};

// For a program that links a plugin instead of loading it: its own tests.
using PluginFunction = void (*)(PluginRegistration&);
bool add_linked_plugin(const char* identity, PluginFunction function);

}  // namespace heed

#define HEED_TEXT_OF(x) #x
#define HEED_TEXT(x) HEED_TEXT_OF(x)

// The standard library, as far as its containers' layout goes.
#if defined(_LIBCPP_VERSION)
#define HEED_STANDARD_LIBRARY "libc++ with ABI " HEED_TEXT(_LIBCPP_ABI_VERSION)
#elif defined(_GLIBCXX_DEBUG)
#define HEED_STANDARD_LIBRARY "libstdc++ with _GLIBCXX_DEBUG"
#elif defined(__GLIBCXX__) && !_GLIBCXX_USE_CXX11_ABI
#define HEED_STANDARD_LIBRARY "libstdc++ with the ABI before C++11"
#elif defined(__GLIBCXX__)
#define HEED_STANDARD_LIBRARY "libstdc++"
#else
#define HEED_STANDARD_LIBRARY "another one"
#endif

#ifdef HEED_FLOAT64
#define HEED_PLUGIN_PRECISION "float64"
#else
#define HEED_PLUGIN_PRECISION "float32"
#endif

// "|version|precision|standard library|", after words that only a plugin contains.
#define HEED_BUILD_TEXT "|" HEED_VERSION "|" HEED_PLUGIN_PRECISION "|" HEED_STANDARD_LIBRARY "|"

// What every plugin has, once: HEED_PLUGIN(plugin) { plugin.add<Mine>(heed::layer_registry(),
// "mine"); }
extern "C" {
[[gnu::visibility("default")]] extern const char heed_plugin_identity[];
[[gnu::visibility("default")]] void heed_plugin_add(heed::PluginRegistration& plugin);
}
#define HEED_PLUGIN(plugin)                                                            \
  extern "C" {                                                                         \
  [[gnu::used]] const char heed_plugin_identity[] = "heedgrad plugin" HEED_BUILD_TEXT; \
  }                                                                                    \
  void heed_plugin_add(heed::PluginRegistration& plugin)
