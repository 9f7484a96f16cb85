#include "tools/extras/explain/added_page.h"

namespace heed {

cli::ExplainPagesRegistry& explain_pages_registry() {
  static auto& registry =
      cli::ExplainPagesRegistry::filled("explain_pages", [](cli::ExplainPagesRegistry&) {});
  return registry;
}

}  // namespace heed
