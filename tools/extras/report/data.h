// The data of report.html, for one or more runs, as JSON.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heed {

// A run that is still training while its page is shown.
struct GoingOn {
  int64_t written = 0;  // seconds since 1970
  int64_t reload = 0;   // seconds until the browser should look for a newer page
};

// The contents of config.yaml, metrics.csv, samples.txt and report.json of all runs as one JSON
// object, thinned out so that the page stays below 3 MB. Anything a run has not written yet is left
// out, and so are damaged rows of metrics.csv, named in `warnings`. `sets` are --set arguments that
// change the configs shown. Throws IoError for a folder that is not a run.
std::string report_data(std::span<const std::filesystem::path> runs,
                        std::vector<std::string>& warnings,
                        const std::optional<GoingOn>& going_on = {},
                        const std::vector<std::string>& sets = {});

}  // namespace heed
