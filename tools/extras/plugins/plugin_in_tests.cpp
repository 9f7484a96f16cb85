// Registers the contents of the plugin that a test program links; heedgrad_add_plugin compiles this
// file into the tests. The declarations repeat train/plugin.h, to avoid its includes.
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
