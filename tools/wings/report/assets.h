// Files that the build embeds in the program for report.html and the pages of probes, of
// `heed explain` and of the tour; see tools/cmake/report.cmake.
#pragma once

#include <string_view>

namespace heed {

struct ReportAssets {
  std::string_view page;           // page.html
  std::string_view style;          // page.css
  std::string_view scripts;        // the *.js of this folder
  std::string_view curve;          // curve.json, a Vega specification
  std::string_view heat_map;       // heat_map.json
  std::string_view vega;           // Vega 5; "" if it was missing at build time
  std::string_view probe_page;     // probe.html
  std::string_view probe_scripts;  // of it
  // Of tools/wings/explain/page: explain.html, tour.html, what both add to page.css, their scripts.
  std::string_view explain_page, tour_page, explain_style, explain_scripts, tour_scripts;
};

const ReportAssets& report_assets();

}  // namespace heed
