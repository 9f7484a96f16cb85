// report.html: one file that shows one run, or several side by side, in any browser, without
// network. Charts are drawn by Vega, which the build put into the library (assets.h).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "train/report/record.h"

namespace heed {

// How many runs a page may show.
inline constexpr size_t most_runs = 12;

// The page that shows the data of report_data(). Whatever a run holds is in one JSON text without a
// `<`, and the page puts it on the screen as text: nothing of it can become markup.
std::string report_page(const std::string& data);

// Writes the page, whole or not at all. Throws IoError.
void write_report(std::span<const std::filesystem::path> runs, const std::filesystem::path& out);

}  // namespace heed
