#include "train/config/plugin_host.h"

namespace heed {

void PluginHost::load(const std::filesystem::path& path) {
  fail<IoError>("--plugin ", path.string(),
                ": this build loads no libraries: it has no extra plugins (-DHEED_EXTRAS)");
}

PluginHostRegistry& plugins_registry() {
  static auto& registry = PluginHostRegistry::filled("plugins", register_plugin_hosts);
  return registry;
}

PluginHost& plugin_host() {
  static PluginHost& host = *plugins_registry().make_first().release();
  return host;
}

}  // namespace heed
