// All that report.html shows of one run or several, as JSON.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace heed {

// What config.yaml, metrics.csv, samples.txt and report.json of the runs say, thinned out so that
// the page stays below 3 MB, as one JSON object. What a run has not written yet is left out. Throws
// IoError for a folder that is no run.
std::string report_data(std::span<const std::filesystem::path> runs);

}  // namespace heed
