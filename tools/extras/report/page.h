// report.html: one self-contained file that shows one or more runs in any browser, without network.
// Charts are drawn by Vega, which the build embeds in the program.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/extras/report/data.h"
#include "train/files/files.h"

namespace heed {

// The maximum number of runs on a page.
inline constexpr size_t most_runs = 12;

// The page for the data of report_data(). All data of the runs is in one JSON text without a `<`
// and is displayed as text, so none of it can become markup.
std::string report_page(const std::string& data);

// Writes the page atomically and returns warnings about damaged data. If the runs are going on, the
// page reloads itself. `sets` as in report_data(). Throws IoError.
std::vector<std::string> write_report(std::span<const std::filesystem::path> runs,
                                      const std::filesystem::path& out, Links links,
                                      const std::optional<GoingOn>& going_on = {},
                                      const std::vector<std::string>& sets = {});

}  // namespace heed
