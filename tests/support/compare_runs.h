// Compares the files of two runs that should be the same.
#pragma once

#include <filesystem>
#include <string>

#include "tests/support/run_program.h"
#include "train/run/metrics.h"

namespace heed::testing {

// The rows of a metrics file without the seconds.
std::string rows_of(const std::filesystem::path& run);

std::filesystem::path checkpoint_of(const std::filesystem::path& run, int step);
std::string file_of(const std::filesystem::path& run, int step, const std::string& name);

// Checks that the files of two checkpoints have the same bytes, but for the seconds in
// manifest.json, and so its checksum. Returns the number that do.
int compare_checkpoints(const std::filesystem::path& a, const std::filesystem::path& b, int step);

// Copies a run as if it had been killed some time after `step`: later checkpoints are missing,
// later rows and samples are not.
void copy_ended_after(int step, const std::filesystem::path& run,
                      const std::filesystem::path& copy);

}  // namespace heed::testing
