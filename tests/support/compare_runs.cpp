#include "tests/support/compare_runs.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace heed::testing {

std::string rows_of(const std::filesystem::path& run) {
  std::string rows;
  for (MetricsRow row : read_metrics(run / "metrics.csv")) {
    row.seconds = {};
    rows += metrics_line(row) + "\n";
  }
  return rows;
}

std::filesystem::path checkpoint_of(const std::filesystem::path& run, int step) {
  const std::string digits = std::to_string(step);
  return run / "checkpoints" / ("step-" + std::string(6 - digits.size(), '0') + digits);
}

std::string file_of(const std::filesystem::path& run, int step, const std::string& name) {
  return read_text(checkpoint_of(run, step) / name);
}

namespace {

// A file of a checkpoint without the seconds in manifest.json, and so without its checksum.
std::string timeless_file_of(const std::filesystem::path& run, int step, const std::string& name) {
  const std::string bytes = file_of(run, step, name);
  if (name != "manifest.json") return bytes;
  nlohmann::json facts = nlohmann::json::parse(bytes);
  CHECK(facts.erase("seconds") + facts.erase("xxh64") == 2);
  return facts.dump();
}

}  // namespace

int compare_checkpoints(const std::filesystem::path& a, const std::filesystem::path& b, int step) {
  int compared = 0;
  for (const char* name : {"model.safetensors", "optimizer.safetensors", "state.safetensors",
                           "config.yaml", "manifest.json"}) {
    const std::string of_a = timeless_file_of(a, step, name);
    const bool same = of_a == timeless_file_of(b, step, name);
    CHECK_MESSAGE(same, name);
    compared += same && !of_a.empty() ? 1 : 0;
  }
  return compared;
}

void copy_ended_after(int step, const std::filesystem::path& run,
                      const std::filesystem::path& copy) {
  namespace fs = std::filesystem;
  fs::copy(run, copy, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  int removed = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(run / "checkpoints")) {
    const std::string name = entry.path().filename().string();
    if (name > checkpoint_of(run, step).filename().string()) {
      fs::remove_all(copy / "checkpoints" / name);
      ++removed;
    }
  }
  REQUIRE(removed > 0);
}

}  // namespace heed::testing
