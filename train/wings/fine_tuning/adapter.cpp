#include "train/wings/fine_tuning/adapter.h"

namespace heed {

AdapterRegistry& adapter_registry() {
  static auto& registry = AdapterRegistry::filled("adapter", register_adapters);
  return registry;
}

}  // namespace heed
