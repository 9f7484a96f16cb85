// The files that heed keeps in a run must not be replaced by others.
#pragma once

#include <filesystem>
#include <string>

namespace heed::cli {

// Throws ConfigError if `out`, a file or a folder, is or would be one of those that heed keeps in a
// run: config.yaml, report.html, ..., and all below `checkpoints`. `option` is the option that
// names it: "heed report: --out".
void require_outside_runs(const std::string& option, const std::filesystem::path& out);

}  // namespace heed::cli
