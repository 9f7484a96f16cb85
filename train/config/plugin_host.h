// Libraries of one's own types, which the command line, a config or a run may name: what the core
// asks of the extra that loads them. A header that ends in HEED_PLUGINS(Class, "name") answers; of
// several the first by name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "layers/config/errors.h"
#include "layers/module/registry.h"

namespace heed {

// The plain form loads nothing, and refuses what the command line names.
class PluginHost {
 public:
  virtual ~PluginHost() = default;

  // Whether load_named_by() may load what configs name (--trust-plugins); at first it may not.
  virtual void trust(bool /*trusted*/) {}
  // Loads a library that the user has named (--plugin). Throws IoError or ConfigError.
  virtual void load(const std::filesystem::path& path);
  // Throws IoError if load() has found only the library for the other precision.
  virtual void require_this_precision() const {}
  // Loads the libraries under `plugins` in a config, relative to `folder`. Those that nobody has
  // allowed are not loaded, and added to `errors`. Throws IoError with a line for each that cannot
  // be loaded.
  virtual void load_named_by(const ConfigNode& /*config*/, const std::filesystem::path& /*folder*/,
                             ConfigErrors& /*errors*/) {}
  // The libraries that a config needs, as absolute paths under their float32 names: those it lists,
  // and those that define one of its types.
  virtual std::vector<std::string> needed_by(const ConfigNode& /*config*/,
                                             const std::filesystem::path& /*folder*/) const {
    return {};
  }
  // The checksum that a file had when it was loaded, by its name as needed_by() gives it; "" if it
  // is not loaded.
  virtual std::string fingerprint(const std::filesystem::path& /*name*/) const { return ""; }
};

using PluginHostRegistry = Registry<PluginHost>;
PluginHostRegistry& plugins_registry();
void register_plugin_hosts(PluginHostRegistry& registry);

// The process's.
PluginHost& plugin_host();

#define HEED_PLUGINS(Class, name) \
  static_assert(std::is_base_of_v<heed::PluginHost, Class>, name " must derive from PluginHost")

}  // namespace heed
