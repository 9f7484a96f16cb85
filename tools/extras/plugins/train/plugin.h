// Plugins: shared libraries that add layers, tasks, optimizers and schedules by name. CMake's
// heedgrad_add_plugin builds them from headers with HEED_LAYER lines, one library per precision,
// next to each other: libmine.so and libmine-f64.so. Either name loads the one for this process.
//
// The file defines version, precision and standard library as a constant. They are read as data and
// compared before any of its code runs; a plugin that does not match is refused with an error that
// names both sides.
//
// A library can do whatever its user can. What a config or a run folder names may come from
// somebody else, and is loaded only if the command line trusts it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "train/data/task.h"
#include "train/optim/optimizer.h"
#include "train/optim/schedule.h"
#include "train/run_hooks.h"

namespace heed {

// Loads the plugin at `path`, or its sibling for the other precision. Does nothing if it is already
// loaded, or if it only exists for the other precision: the process may still be replaced by the
// program of that one; else require_this_precision() throws. Throws IoError if the file is missing,
// not a plugin or built against something else; throws ConfigError, with nothing added, if a name
// is taken.
void load_plugin(const std::filesystem::path& path);

class DynamicPlugins final : public RunHooks {
 public:
  static constexpr const char* help = "shared libraries";
  using Config = NoFields;

  explicit DynamicPlugins(const Config&) {}

  bool load_libraries(const std::vector<std::string>& named, bool trusted) override;
  void require_this_precision() const override;
  // Loads what the config names. A plugin with the same file name that the command line has named
  // is used instead: it may have moved. Adds those that nobody has allowed.
  void before_reading(const ConfigNode& config, const Path& folder, ConfigErrors& errors) override;
  // Lists the plugins that a resumed run must load, as absolute paths under their float32 names:
  // those that the config lists, and those that define one of its types.
  void resolve(LoadedRun& run, const Path& folder) const override;
  // The checksums that they had when they were loaded.
  std::map<std::string, std::string> made_with(const LoadedRun& run) const override;
  std::string options(const LoadedRun& run) const override;
};
HEED_RUN_HOOKS(DynamicPlugins, "plugins");

// The argument of a plugin's registration function.
class PluginRegistration {
 public:
  // The first pass (look) only checks that all names are free. The second (add) registers.
  enum class Pass { look, add };
  PluginRegistration(std::string plugin, Pass pass) : plugin_(std::move(plugin)), pass_(pass) {}

  template <class Class, class Registry>
  void add(Registry& registry, const std::string& name) {
    if (pass_ == Pass::look) {
      require_free(registry.types(), name);
    } else {
      note(registry.types().kind(), name);
      registry.template add<Class>(name);
    }
  }

 private:
  void require_free(const ConfigTypes& types, const std::string& name) const;
  void note(const std::string& kind, const std::string& name) const;

  std::string plugin_;  // "libmine.so"
  Pass pass_;
};

// For programs that link a plugin instead of loading it, such as its own tests.
using PluginFunction = void (*)(PluginRegistration&);
bool add_linked_plugin(const char* identity, PluginFunction function);

}  // namespace heed

#define HEED_TEXT_OF(x) #x
#define HEED_TEXT(x) HEED_TEXT_OF(x)

// Identifies the standard library as far as it affects the layout of containers.
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

// "|version|precision|standard library|"; follows a text that only plugins contain.
#define HEED_BUILD_TEXT "|" HEED_VERSION "|" HEED_PLUGIN_PRECISION "|" HEED_STANDARD_LIBRARY "|"

// Every plugin contains this once:
//   HEED_PLUGIN(plugin) { plugin.add<Mine>(heed::layer_registry(), "mine"); }
extern "C" {
[[gnu::visibility("default")]] extern const char heed_plugin_identity[];
[[gnu::visibility("default")]] void heed_plugin_add(heed::PluginRegistration& plugin);
}
#define HEED_PLUGIN(plugin)                                                            \
  extern "C" {                                                                         \
  [[gnu::used]] const char heed_plugin_identity[] = "heedgrad plugin" HEED_BUILD_TEXT; \
  }                                                                                    \
  void heed_plugin_add(heed::PluginRegistration& plugin)
