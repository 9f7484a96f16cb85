// The data of report.html, for one or more runs, as JSON.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace heed {

// The contents of config.yaml, metrics.csv, samples.txt and report.json of all runs as one JSON
// object, thinned out so that the page stays below 3 MB. Anything a run has not written yet is left
// out. Throws IoError for a folder that is not a run.
std::string report_data(std::span<const std::filesystem::path> runs);

}  // namespace heed
