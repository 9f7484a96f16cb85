#include "tools/extras/fine_tuning/train/adapter.h"

namespace heed {

AdapterRegistry& adapter_registry() {
  static auto& registry = AdapterRegistry::filled("adapter", register_adapters);
  return registry;
}

}  // namespace heed
