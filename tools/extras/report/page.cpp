#include "tools/extras/report/page.h"

#include "tools/extras/report/pages/page.h"
#include "tools/extras/report/sections.h"

namespace heed {

SectionsRegistry& sections_registry() {
  static auto& registry = SectionsRegistry::filled("sections", [](SectionsRegistry&) {});
  return registry;
}

std::string report_page(const std::string& data) {
  std::string scripts(asset("report/scripts"));
  for (const auto& section : sections_registry().make_all()) scripts += section->scripts();
  return filled(asset("report/page"), {{"{{style}}", asset("pages/style")},
                                       {"{{vega}}", asset("report/vega")},
                                       {"{{curve}}", asset("report/curve")},
                                       {"{{heat_map}}", asset("report/heat_map")},
                                       {"{{data}}", within_script(data)},
                                       {"{{scripts}}", scripts + "build();\n"}});
}

std::vector<std::string> write_report(std::span<const std::filesystem::path> runs,
                                      const std::filesystem::path& out, Links links,
                                      const std::optional<GoingOn>& going_on,
                                      const std::vector<std::string>& sets) {
  std::vector<std::string> warnings;
  write_file_atomically(out, report_page(report_data(runs, warnings, going_on, sets)), links);
  return warnings;
}

}  // namespace heed
