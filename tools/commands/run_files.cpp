#include "tools/commands/run_files.h"

#include <algorithm>
#include <string_view>

#include "autograd/base/error.h"
#include "layers/text/display.h"
#include "train/files/files.h"

namespace heed::cli {

namespace fs = std::filesystem;

namespace {

// What heed keeps in a run folder and in a checkpoint.
constexpr std::string_view own_names[] = {"config.yaml",
                                          "metrics.csv",
                                          "samples.txt",
                                          "log.txt",
                                          "report.json",
                                          "report.html",
                                          ".lock",
                                          "checkpoints",
                                          "state.json",
                                          "model.safetensors",
                                          "optimizer.safetensors",
                                          "state.safetensors",
                                          "tokenizer.json",
                                          "vocabulary.json",
                                          "manifest.json"};

// Whether `path` is one of the files of a run or checkpoint, or lies in a run's folder of
// checkpoints, from which training removes what it takes for its own.
bool belongs_to_a_run(const fs::path& path) {
  const auto has = [&](const fs::path& folder, const char* name) {
    return is_there(folder / "config.yaml") && is_there(folder / name);
  };
  const fs::path folder = path.parent_path();
  for (fs::path at = folder; at.has_relative_path(); at = at.parent_path()) {
    if (at.filename() == "checkpoints" && has(at.parent_path(), "metrics.csv")) {
      return true;
    }
  }
  return (has(folder, "metrics.csv") || has(folder, "manifest.json")) &&
         std::find(std::begin(own_names), std::end(own_names), path.filename().string()) !=
             std::end(own_names);
}

}  // namespace

void require_outside_runs(const std::string& option, const fs::path& out) {
  std::error_code unknown;
  require<ConfigError>(!belongs_to_a_run(fs::weakly_canonical(fs::absolute(out, unknown), unknown)),
                       option, " ", printable(out.string(), 1000),
                       ": is among the files that a run keeps for itself; give another name");
}

}  // namespace heed::cli
