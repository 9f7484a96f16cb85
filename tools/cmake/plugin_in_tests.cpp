// Makes known to a test program what the plugin it links adds. heedgrad_add_plugin compiles it into
// the tests; the declarations are those of train/plugin/plugin.h, without all that it includes.
namespace heed {
class PluginRegistration;
bool add_linked_plugin(const char* identity, void (*function)(PluginRegistration&));
}  // namespace heed

extern "C" {
extern const char heed_plugin_identity[];
void heed_plugin_add(heed::PluginRegistration& plugin);
}

namespace {
[[maybe_unused]] const bool known = heed::add_linked_plugin(heed_plugin_identity, heed_plugin_add);
}
