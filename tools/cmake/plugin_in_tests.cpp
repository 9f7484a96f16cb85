// Makes known to a test program what the plugin it links adds. heedgrad_add_plugin compiles it into
// the tests.
#include <heed/train/plugin.h>

namespace {
[[maybe_unused]] const bool known = heed::add_linked_plugin(heed_plugin_identity, heed_plugin_add);
}
