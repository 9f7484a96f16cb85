// metrics.csv: step,loss,val_loss,lr,grad_norm,tokens,seconds,bits_per_byte, and a column for each
// loss that layers add. One row per logged or evaluated step; floats have nine significant digits;
// values that were not measured are empty.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
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
  std::map<std::string, double> added = {};  // by layers to the loss of this step's batch

  bool operator==(const MetricsRow&) const = default;
};

// f(name, value) for each column between the step and those of added losses.
template <class Row, class F>
void for_each_column(Row& row, F&& f) {
  f("loss", row.loss);
  f("val_loss", row.val_loss);
  f("lr", row.lr);
  f("grad_norm", row.grad_norm);
  f("tokens", row.tokens);
  f("seconds", row.seconds);
  f("bits_per_byte", row.bits_per_byte);
}

// "10,4.17438793,,0.001,2.51,768,0.25,", without a line end, with these columns of added losses.
std::string metrics_line(const MetricsRow& row, const std::vector<std::string>& added = {});

class MetricsWriter {
 public:
  // Continues with the rows of read_metrics_until(): removes all others and an incomplete last one,
  // atomically. Makes the file if there is none.
  static MetricsWriter resume(const std::filesystem::path& path, int64_t step);

  // Writes one row immediately. Steps must increase. A loss that is added for the first time gets a
  // column; earlier rows end before it.
  void write(const MetricsRow& row);

  // Flushes to disk. Called before a checkpoint, so that no checkpoint is ahead of the rows.
  void flush_to_disk() { file_.flush_to_disk(); }

 private:
  void add_column(const std::string& name);
  MetricsWriter(std::filesystem::path path, std::vector<std::string> added, int64_t last_step)
      : path_(std::move(path)), file_(path_), added_(std::move(added)), last_step_(last_step) {}

  std::filesystem::path path_;
  AppendFile file_;
  std::vector<std::string> added_;  // columns behind those that every run has
  int64_t last_step_;
};

// All complete rows; a last one without a line end is ignored, because a run may be writing it.
// Throws IoError "path:line: ..." for a damaged row; with `warnings` it is left out, and the first
// one is named there.
std::vector<MetricsRow> read_metrics(const std::filesystem::path& path,
                                     std::vector<std::string>* warnings = nullptr);

// The rows up to `step`, to continue after it; none if there is no file. A damaged row that no
// whole row up to `step` follows is left out and named in `warnings`; any other is an IoError.
std::vector<MetricsRow> read_metrics_until(const std::filesystem::path& path, int64_t step,
                                           std::vector<std::string>& warnings);

}  // namespace heed
