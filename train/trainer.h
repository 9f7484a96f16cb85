// Trains a model as a config says, and leaves a run folder behind.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/checkpoint/checkpoint.h"
#include "train/evaluate.h"
#include "train/optim/schedule.h"
#include "train/plan.h"
#include "train/run/listener.h"
#include "train/run/metrics.h"
#include "train/run/progress.h"
#include "train/run/run_folder.h"
#include "train/step.h"

namespace heed {

// no_gain: as many evaluations as eval.patience says have not lowered the validation loss.
enum class Ending { finished, out_of_time, interrupted, no_gain };

class Trainer {
 public:
  // A run from its first step in `folder`: seeds the streams, builds the model, writes config.yaml;
  // what an earlier process wrote before its first checkpoint goes. With a checkpoint of the run in
  // that folder it goes on from there as if it had never stopped.
  Trainer(LoadedRun run, RunFolder folder,
          const std::optional<std::filesystem::path>& checkpoint = {});

  // Tells `listener` how the run goes; it has to live until train() returns.
  void add_listener(TrainingListener& listener) { listeners_.push_back(&listener); }

  // Trains to the last step, or until `max_seconds` are over, the user interrupts or patience is
  // at its end; in each case a checkpoint is saved. Throws DivergedError, which names the step, at
  // the first loss, gradient or weight that is not finite; a loss or gradient before any weight is
  // changed. A checkpoint only ever holds weights that are finite and give a finite loss. Throws
  // IoError when a file cannot be written; it names the last good checkpoint.
  Ending train(std::optional<double> max_seconds = {});

  int64_t step() const { return state_.step; }
  const TrainingState& state() const { return state_; }  // streams and data: of the last save
  const RunFolder& folder() const { return folder_; }
  void say(const std::string& line);  // to the user and to log.txt

 private:
  void begin();
  void resume(const std::filesystem::path& checkpoint);
  std::string last_good() const;
  Retention retention() const;
  bool patience_is_over() const;
  Ending train_on(std::optional<double> max_seconds);
  void require_sound_weights();
  std::optional<Evaluation> evaluate_if_due();
  void write_metrics(const StepResult& result, std::optional<double> val_loss, double lr);
  void sample_if_due();
  // call(listener) for each, and what did not work to the user.
  template <class F>
  void notify(F&& call);
  void save();
  double seconds() const;

  LoadedRun run_;
  RunFolder folder_;
  std::unique_ptr<Module> model_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<Schedule> schedule_;
  TrainingState state_;
  int64_t saved_step_ = -1;
  std::optional<MetricsWriter> metrics_;
  Progress progress_;
  std::vector<TrainingListener*> listeners_;
  double seconds_before_ = 0;  // of earlier processes
  int64_t tokens_before_ = 0, steps_before_ = 0;
  std::chrono::steady_clock::time_point start_;
};

// What a resumed run may change: train.steps, train.log_every, anomaly, everything of eval,
// checkpoint and sample, where plugins lie, and the data when its fingerprint is known. Throws
// ConfigError with every other difference between the resolved config that a run was trained with,
// read from `of_run`, and the one given. A key that one of them lacks has its default: the run may
// have been made by an earlier version.
void require_resumable(const std::filesystem::path& of_run, const ConfigNode& given);

}  // namespace heed
