// Trains the model of a config and writes a run folder.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/checkpoint/checkpoint.h"
#include "train/config/run_hooks.h"
#include "train/evaluate.h"
#include "train/optim/schedule.h"
#include "train/plan.h"
#include "train/run/metrics.h"
#include "train/run/progress.h"
#include "train/run/run_folder.h"
#include "train/step.h"

namespace heed {

class Trainer {
 public:
  // Starts a run in `folder`: seeds the streams, builds the model, writes config.yaml, and removes
  // anything that an earlier process wrote before its first checkpoint. Given a checkpoint of the
  // run in that folder, resumes from it with the same results as an uninterrupted run. What was
  // written after that checkpoint is named and removed, once all that is needed has been read.
  // Each worker makes a Trainer; only that of rank 0 has a folder and writes.
  Trainer(LoadedRun run, std::optional<RunFolder> folder,
          const std::optional<std::filesystem::path>& checkpoint = {},
          Workers& workers = one_worker());

  // Calls `hooks` during training. They must live until train() returns.
  void add_hooks(RunHooks& hooks) { hooks_.push_back(&hooks); }

  // Trains until the last step, `max_seconds` or else train.max_seconds, an interrupt, or the end
  // of patience; in each case saves a checkpoint. A sample in the making when the time ends or an
  // interrupt comes, and an evaluation during which an interrupt comes, are left out, and made when
  // the run is resumed. Throws DivergedError, which names the step, at the first loss, gradient or
  // weight that is not finite; for a loss or gradient, no weight has changed. Checkpoints only
  // contain finite weights that give a finite loss. Any other error names the last good checkpoint,
  // such as the IoError if a file cannot be written.
  Ending train(std::optional<double> max_seconds = {});

  const LoadedRun& run() const { return run_; }
  Module& model() { return *model_; }
  int64_t step() const { return state_.step; }
  const TrainingState& state() const { return state_; }  // streams, position: of the last save
  std::optional<double> val_loss() const { return val_loss_; }  // of the last evaluation here
  const RunFolder& folder() const { return *folder_; }          // rank 0's
  // To standard error, as Progress::note(), and to log.txt; rank 0 alone.
  void say(const std::string& line, const char* style = "");
  void log(const std::string& line) { folder_->log(line); }

 private:
  void begin();
  void resume(const std::filesystem::path& checkpoint);
  void resume_folder(const std::filesystem::path& checkpoint);
  void compare_losses_with(const std::filesystem::path& config);
  std::string last_good() const;
  std::string stopped_by(const std::string& reason) const;
  Retention retention() const;
  bool patience_is_over() const;
  Ending run_steps();  // loop.cpp, as end_step()
  // All that follows the update of a step; without a result, what an earlier process left of it.
  Ending end_step(const StepResult* result);
  Ending ending_now(bool last) const;
  bool time_is_over() const { return max_seconds_ && seconds() >= *max_seconds_; }
  std::optional<Evaluation> evaluate_if_due();
  // Of steps that are logged or evaluated.
  void write_metrics(const StepResult* result, const std::optional<Evaluation>& evaluation);
  void sample_if_due();
  // Calls call(hooks) for each of them and prints its trouble().
  void notify(const std::function<void(RunHooks&)>& call);
  bool may_update(double grad_norm, double scale);
  void save();
  double seconds() const;

  LoadedRun run_;
  std::optional<RunFolder> folder_;
  Workers& workers_;
  std::unique_ptr<Module> model_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<Schedule> schedule_;
  std::optional<Batch> only_batch_;  // train.overfit_batch
  TrainingState state_;
  std::optional<double> val_loss_;
  int64_t saved_step_ = -1;
  std::optional<MetricsWriter> metrics_;
  std::optional<MetricsRow> row_without_evaluation_;  // the last one, if that was stopped
  Progress progress_;
  std::vector<RunHooks*> hooks_;
  using OwnHooks = std::vector<std::unique_ptr<RunHooks>>;  // which may change the run
  const OwnHooks own_hooks_ = run_hooks_registry().make_all();
  std::optional<double> max_seconds_;
  double seconds_before_ = 0;    // when this call of train() began
  double seconds_in_steps_ = 0;  // of this call
  int64_t tokens_before_ = 0, steps_before_ = 0;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace heed
