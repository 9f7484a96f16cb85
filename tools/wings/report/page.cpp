#include "tools/wings/report/page.h"

#include "layers/text/formatted.h"
#include "tools/wings/report/assets.h"

namespace heed {

std::string within_script(const std::string& json) {
  std::string out;
  out.reserve(json.size() + json.size() / 50);
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      out += formatted("\\u%04x", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string filled(std::string_view rest, PageParts parts) {
  std::string page;
  for (const auto& [place, part] : parts) {
    const size_t at = rest.find(place);
    require<Error>(at != std::string_view::npos, "report: the page has no ", place);
    page.append(rest.substr(0, at)).append(part);
    rest.remove_prefix(at + place.size());
  }
  return page.append(rest);
}

std::string report_page(const std::string& data) {
  const ReportAssets& assets = report_assets();
  return filled(assets.page, {{"{{style}}", assets.style},
                              {"{{vega}}", assets.vega},
                              {"{{curve}}", assets.curve},
                              {"{{heat_map}}", assets.heat_map},
                              {"{{data}}", within_script(data)},
                              {"{{scripts}}", assets.scripts}});
}

std::string probe_page(const std::string& data) {
  const ReportAssets& assets = report_assets();
  return filled(assets.probe_page, {{"{{style}}", assets.style},
                                    {"{{data}}", within_script(data)},
                                    {"{{scripts}}", assets.probe_scripts}});
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
