// The state of a training run other than weights and optimizer, and the file that holds it,
// state.safetensors:
//   metadata "state"   JSON: {"step", "tokens", "best_val_loss", "best_step",
//                      "evaluations_since_best", "sample_bytes", "generators", "dropout_stream"};
//                      best_val_loss and best_step are null before the first evaluation;
//                      "evaluation_due", "sample_due": true only if that of this step was stopped;
//                      "left_out" only if there are some
//   "generator.init"   and ".data", ".dropout", ".sampling": I64 (625), the 624 words of the
//                      generator and the index of the next one;
//                      "generator.<purpose>.cached_normal": F64, (1) or (0)
//   "task_position"    I64, one axis
// It contains no path, thread count, time or fact about the machine: equal runs write equal files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "autograd/random/streams.h"
#include "train/files/files.h"

namespace heed {

struct TrainingState {
  int64_t step = 0;      // completed steps
  int64_t left_out = 0;  // of these, the steps without an update: a hook objected
  int64_t tokens = 0;    // trained on so far
  std::optional<double> best_val_loss = {};
  std::optional<int64_t> best_step = {};
  int64_t evaluations_since_best = 0;
  StreamsState streams = {};
  std::vector<int64_t> task_position = {};  // Dataset::position()
  int64_t sample_bytes = 0;                 // length of samples.txt
  double seconds = 0;                       // spent on training so far: in the manifest
  // What was stopped after this step; it is made on resuming.
  bool evaluation_due = false, sample_due = false;

  bool operator==(const TrainingState&) const = default;
};

// Writes all but the seconds into `folder`.
Fingerprint write_state(const std::filesystem::path& folder, const TrainingState& state);

// Throws IoError for a damaged file, and for generator states that no run can have.
TrainingState read_state(const std::filesystem::path& folder);

}  // namespace heed
