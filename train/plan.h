// The plan of a run, computed before anything is allocated: sizes, arithmetic, memory.
#pragma once

#include <new>
#include <string>
#include <vector>

#include "autograd/base/modes.h"
#include "autograd/random/streams.h"
#include "train/config/run_config.h"
#include "train/workers.h"

namespace heed {

struct Plan {
  ConfigMark model_mark;  // of the model section in the config
  int64_t parameters = 0;
  int64_t trained_parameters = 0;  // the others are frozen
  int64_t training_tokens = 0;     // in the data
  int64_t tokens_per_step = 0;
  bool counts_tokens = true;   // a target is a token, not a class or numbers
  int64_t flops_per_step = 0;  // of matrix products and attention, forward and backward
  int64_t weight_bytes = 0;
  int64_t gradient_bytes = 0;
  int64_t optimizer_bytes = 0;
  int64_t activation_bytes = 0;        // peak memory of a step beyond the above
  int64_t other_activation_bytes = 0;  // the same with the other value of train.recompute
  bool recomputes = false;             // train.recompute: blocks
  int64_t process_bytes = 0;           // of the process while it runs, data included
  double base_lr = 0;                  // the optimizer's, before the schedule
  bool says_causal = false;            // the model, by its signature
  bool fewer_threads = false;          // more would not pay for so small a model
  // What trains without an error, but hardly as it was meant; a line each.
  std::vector<std::string> warnings;
  int64_t total_bytes() const {
    return weight_bytes + gradient_bytes + optimizer_bytes + activation_bytes + process_bytes;
  }
};

// Performs a training step in a dry run, and asks all hooks for warnings (run_hooks.h). Streams and
// task are restored. Throws ConfigError if the model does not fit the data. The memory is that of
// this worker.
Plan make_plan(const LoadedRun& run, const Workers& workers = one_worker());

// "1.9 GB (420 MB with train.recompute: blocks)": activations, with the other ones if they differ.
std::string activations_text(const Plan& plan);

// Throws ConfigError if `processes` such runs need more memory than this machine has available.
void require_memory(const Plan& plan, int processes = 1);

// Calls step(), which computes in a dry run. Throws ConfigError, "WHAT needs more memory than any
// machine can address" and the hint, if it does.
template <class Step>
void addressable(const std::string& what, const std::string& hint, const Step& step) {
  try {
    step();
  } catch (const std::bad_alloc&) {
    fail<ConfigError>(what, " needs more memory than any machine can address", hint);
  }
}

// Throws ConfigError with the warnings of the plan, if there are any: `--strict`.
void require_no_warnings(const Plan& plan);

// Restores what steps that nobody keeps change: the random streams, the position in the data
// and the switch for fused operations.
class RestoreState {
 public:
  explicit RestoreState(Dataset& data)
      : data_(data), streams_(streams().state()), position_(data.position()), fused_(fused()) {}
  ~RestoreState() {
    set_fused(fused_);
    streams().set_state(streams_);
    data_.set_position(position_);
  }
  RestoreState(const RestoreState&) = delete;
  RestoreState& operator=(const RestoreState&) = delete;

 private:
  Dataset& data_;
  const StreamsState streams_;
  const std::vector<int64_t> position_;
  const bool fused_;
};

// The plan as text: model, data, step, memory, threads, kernels; warnings last.
std::vector<std::string> describe(const Plan& plan, const LoadedRun& run);

}  // namespace heed
