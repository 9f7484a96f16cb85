#include "tools/commands/run_files.h"

#include <algorithm>
#include <iterator>

#include "autograd/base/error.h"
#include "layers/text/display.h"
#include "train/files/files.h"
#include "train/files/run_files.h"

namespace heed::cli {

namespace fs = std::filesystem;

namespace {

// Whether `path` is one of the files of a run or checkpoint, or lies in a run's folder of
// checkpoints, from which training removes what it takes for its own.
bool belongs_to_a_run(const fs::path& path) {
  const auto has = [&](const fs::path& folder, const char* name) {
    return is_there(folder / stored_config) && is_there(folder / name);
  };
  const fs::path folder = path.parent_path();
  for (fs::path at = folder; at.has_relative_path(); at = at.parent_path()) {
    if (at.filename() == run_checkpoints && has(at.parent_path(), run_metrics)) {
      return true;
    }
  }
  const auto is_among = [&](const auto& names) {
    return std::find(std::begin(names), std::end(names), path.filename()) != std::end(names);
  };
  return (has(folder, run_metrics) || has(folder, stored_manifest)) &&
         (is_among(files_of_run) || is_among(files_of_checkpoint));
}

}  // namespace

void require_outside_runs(const std::string& option, const fs::path& out) {
  std::error_code unknown;
  require<ConfigError>(!belongs_to_a_run(fs::weakly_canonical(fs::absolute(out, unknown), unknown)),
                       option, " ", printable(out.string(), 1000),
                       ": is among the files that a run keeps for itself; give another name");
}

}  // namespace heed::cli
