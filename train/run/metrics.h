// metrics.csv: step,loss,val_loss,lr,grad_norm,tokens,seconds; one row a step that was logged or
// evaluated, floats with nine significant digits, empty what was not measured.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "train/run/run_folder.h"

namespace heed {

struct MetricsRow {
  int64_t step = 0;                     // the first is 1
  std::optional<double> loss = {};      // of the batch of this step, before its update
  std::optional<double> val_loss = {};  // after the update
  std::optional<double> lr = {};
  std::optional<double> grad_norm = {};  // before clipping
  std::optional<int64_t> tokens = {};    // trained on so far
  std::optional<double> seconds = {};    // since the start of the run

  bool operator==(const MetricsRow&) const = default;
};

// "10,4.17438793,,0.001,2.51,768,0.25": without a line end.
std::string metrics_line(const MetricsRow& row);

class MetricsWriter {
 public:
  // A new file; throws IoError if there is one already.
  static MetricsWriter create(const std::filesystem::path& path);

  // Goes on after `step`: later rows, and a last one that was not written to its end, are dropped,
  // atomically. Without a file a new one begins.
  static MetricsWriter resume(const std::filesystem::path& path, int64_t step);

  // One row, written at once. Steps must grow.
  void write(const MetricsRow& row);

  // To the disk: before a checkpoint, so that no checkpoint is ahead of the rows.
  void flush_to_disk() { file_.flush_to_disk(); }

 private:
  MetricsWriter(AppendFile file, int64_t last_step)
      : file_(std::move(file)), last_step_(last_step) {}

  AppendFile file_;
  int64_t last_step_;
};

// All whole rows; columns beyond ours are skipped, and so is a last row without its line end, for
// a run may be writing it. Throws IoError "path:line: ...".
std::vector<MetricsRow> read_metrics(const std::filesystem::path& path);

}  // namespace heed
