// The header to include for writing a listener: what is told of a run while it trains, such as the
// report or a monitor of your own. A header that ends in HEED_LISTENER(Class, "name") is enough:
// every `heed train` makes one of each class that is registered.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "train/config/run_config.h"

namespace heed {

struct MetricsRow;
struct Plan;

// How training ends. no_gain: the validation loss has not improved for eval.patience evaluations.
enum class Ending { finished, out_of_time, interrupted, no_gain };

// A run in training. All members live at least until training ends.
struct RunInTraining {
  std::filesystem::path folder;
  const LoadedRun& loaded;
  Module& model;
  std::function<void(const std::string&)> say = {};  // to the terminal and to log.txt
};

// The functions must not throw, because a listener must never end a run. They are called between
// two steps and must leave gradients and random streams unchanged.
class TrainingListener {
 public:
  virtual ~TrainingListener() = default;

  // Before anything is allocated; `heed validate` asks too. This one may throw: ConfigError if the
  // config wants what its model does not have.
  virtual void check(const LoadedRun& /*loaded*/) const {}
  // True for one that writes on standard output: it is made for `heed train --json` alone.
  virtual bool prints() const { return false; }

  // The run was planned and will begin after `step`; of a dry run, which has no folder (""), too.
  virtual void on_plan(const Plan& /*plan*/, const LoadedRun& /*loaded*/,
                       const std::filesystem::path& /*folder*/, int64_t /*step*/) {}
  // Training starts, or resumes after `step`.
  virtual void on_begin(const RunInTraining& /*run*/, int64_t /*step*/) {}
  // A row of metrics.csv (train/run/metrics.h) was written. If an interrupt had stopped its
  // evaluation, the row comes again, complete, when the run is resumed.
  virtual void on_metrics(const MetricsRow& /*row*/) {}
  // The validation set was evaluated after `step`.
  virtual void on_evaluation(int64_t /*step*/, const Evaluation& /*evaluation*/) {}
  // `step` was the last one. `diverged`: a value is not finite, and the model may be unusable.
  virtual void on_end(int64_t /*step*/, bool /*diverged*/) {}
  // Everything is saved, and training ends after `step`.
  virtual void on_ended(Ending /*ending*/, int64_t /*step*/) {}

  // How to look at the run when it has ended, for the last lines on a terminal: a command, or a
  // file and what opens it; "" if there is nothing to see. The run is the one that began.
  virtual std::string way_to_look(const RunInTraining& /*run*/) { return ""; }

  // A message for the user about a failure, returned once; otherwise "".
  virtual std::string trouble() { return ""; }
};

using ListenerRegistry = Registry<TrainingListener>;
ListenerRegistry& listener_registry();
void register_listeners(ListenerRegistry& registry);

// check() of a listener of each registered class.
void check_listeners(const LoadedRun& loaded);

#define HEED_LISTENER(Class, name)                                \
  static_assert(std::is_base_of_v<heed::TrainingListener, Class>, \
                name " must derive from TrainingListener")

}  // namespace heed
