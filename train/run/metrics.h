// metrics.csv: step,loss,val_loss,lr,grad_norm,tokens,seconds,bits_per_byte. One row per logged or
// evaluated step; floats have nine significant digits; values that were not measured are empty.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "train/run/run_folder.h"

namespace heed {

// A longer file is not read; it has more rows than these, of at most 128 bytes.
inline constexpr int64_t max_csv_bytes = int64_t{1} << 30, most_metrics_rows = max_csv_bytes / 128;

struct MetricsRow {
  int64_t step = 0;                     // starts at 1
  std::optional<double> loss = {};      // of this step's batch, before the update
  std::optional<double> val_loss = {};  // after the update
  std::optional<double> lr = {};
  std::optional<double> grad_norm = {};      // before clipping
  std::optional<int64_t> tokens = {};        // trained on so far
  std::optional<double> seconds = {};        // since the start of the run
  std::optional<double> bits_per_byte = {};  // of val_loss, for text (Evaluation)

  bool operator==(const MetricsRow&) const = default;
};

// "10,4.17438793,,0.001,2.51,768,0.25", without a line end.
std::string metrics_line(const MetricsRow& row);

class MetricsWriter {
 public:
  // Continues with the rows of read_metrics_until(): removes all others and an incomplete last one,
  // atomically. Makes the file if there is none.
  static MetricsWriter resume(const std::filesystem::path& path, int64_t step);

  // Writes one row immediately. Steps must increase.
  void write(const MetricsRow& row);

  // Flushes to disk. Called before a checkpoint, so that no checkpoint is ahead of the rows.
  void flush_to_disk() { file_.flush_to_disk(); }

 private:
  MetricsWriter(AppendFile file, int64_t last_step)
      : file_(std::move(file)), last_step_(last_step) {}

  AppendFile file_;
  int64_t last_step_;
};

// All complete rows. Unknown columns are ignored, and so is a last row without a line end, because
// a run may be writing it. Throws IoError "path:line: ...".
std::vector<MetricsRow> read_metrics(const std::filesystem::path& path);

// The same, but leaves damaged rows out and names the first one in `warnings`.
std::vector<MetricsRow> read_metrics(const std::filesystem::path& path,
                                     std::vector<std::string>& warnings);

// The rows up to `step`, to continue after it; none if there is no file. A damaged row that no
// whole row up to `step` follows is left out and named in `warnings`; any other is an IoError.
std::vector<MetricsRow> read_metrics_until(const std::filesystem::path& path, int64_t step,
                                           std::vector<std::string>& warnings);

}  // namespace heed
