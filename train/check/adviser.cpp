#include "train/check/adviser.h"

namespace heed {

AdviserRegistry& adviser_registry() {
  static auto& registry = AdviserRegistry::filled("adviser", register_advisers);
  return registry;
}

}  // namespace heed
