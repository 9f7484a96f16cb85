#include "train/trainer.h"

#include <new>

#include "autograd/random/streams.h"
#include "train/check/finite.h"
#include "train/data/generate.h"
#include "train/files/human_readable.h"
#include "train/loop.h"
#include "train/run/interrupt.h"
#include "train/run/resume.h"
#include "train/sound_weights.h"

namespace heed {

namespace fs = std::filesystem;

Ending Trainer::train(std::optional<double> max_seconds) {
  const InterruptGuard interrupts(/*speaks=*/folder_.has_value());
  InterruptGuard::set_saved(saved_step_ == state_.step);
  start_ = std::chrono::steady_clock::now();
  max_seconds_ = max_seconds ? max_seconds : run_.config.train.max_seconds;
  seconds_in_steps_ = 0;
  seconds_before_ = state_.seconds;
  tokens_before_ = state_.tokens;
  steps_before_ = state_.step;
  model_->train();
  const RunInTraining run{folder_ ? folder_->path() : fs::path(), run_, *model_,
                          [this](const std::string& line) { say(line); }};
  for (const auto& each : own_hooks_) each->on_start(run);
  notify([&](RunHooks& each) { each.on_begin(run, state_.step); });
  try {
    return run_steps();
  } catch (const DivergedError& error) {
    notify([&](RunHooks& each) { each.on_end(state_.step, /*diverged=*/true); });
    fail<DivergedError>(error.what(), "; ", last_good(),
                        "; a smaller learning rate or train.clip_grad_norm may help");
  } catch (const IoError& error) {
    fail<IoError>(stopped_by(error.what()));
  } catch (const ConfigError& error) {
    fail<ConfigError>(stopped_by(error.what()));
  } catch (const std::bad_alloc&) {
    fail<Error>(stopped_by("out of memory"));
  } catch (const std::exception& error) {
    fail<Error>(stopped_by(error.what()));
  }
}

bool Trainer::patience_is_over() const {
  const std::optional<int64_t>& patience = run_.config.eval.patience;
  return run_.config.eval.every && patience && state_.evaluations_since_best >= *patience;
}

Ending Trainer::ending_now(bool last) const {
  if (InterruptGuard::requested()) {
    return Ending::interrupted;
  }
  if (time_is_over() && (!last || state_.sample_due)) {
    return Ending::out_of_time;
  }
  return patience_is_over() && !last ? Ending::no_gain : Ending::finished;
}

std::optional<Evaluation> Trainer::evaluate_if_due() {
  const bool last = state_.step == run_.config.train.steps;
  state_.evaluation_due = false;
  if (!due(run_.config.eval.every, state_.step) && !(last && run_.config.eval.every)) {
    return {};
  }
  const int64_t batch_size = run_.config.train.batch_size;
  const int64_t count =
      examples_of(*run_.task, Split::validation, batch_size, run_.config.eval.batches);
  for (const auto& each : own_hooks_) each->exchange_weights();
  std::optional<Evaluation> evaluation =
      evaluate_examples(*model_, *run_.task, Split::validation, batch_size, count, workers_,
                        InterruptGuard::requested);
  for (const auto& each : own_hooks_) each->exchange_weights();
  if (!evaluation) {
    state_.evaluation_due = true;
    return {};
  }
  at_step(state_.step, [&] { require_finite(evaluation->loss, "validation loss"); });
  val_loss_ = evaluation->loss;
  // The one at the end of a run is not counted: a run that is extended has it in addition.
  state_.evaluations_since_best += due(run_.config.eval.every, state_.step) ? 1 : 0;
  if (!state_.best_val_loss || evaluation->loss < *state_.best_val_loss) {
    state_.best_val_loss = evaluation->loss;
    state_.best_step = state_.step;
    state_.evaluations_since_best = 0;
  }
  return evaluation;
}

void Trainer::write_metrics(const StepResult* result, const std::optional<Evaluation>& evaluation) {
  const bool logged =
      result != nullptr && (state_.step % run_.config.train.log_every == 0 || state_.step == 1 ||
                            state_.step == run_.config.train.steps);
  if (!folder_ || !(logged || evaluation)) {
    return;
  }
  const auto val_loss = evaluation ? std::optional(evaluation->loss) : std::nullopt;
  MetricsRow row{.step = state_.step, .lr = schedule_->lr(state_.step), .tokens = state_.tokens};
  if (logged) {
    row.loss = result->loss;
    row.grad_norm = result->grad_norm;
    row.added = result->added;
  } else if (result == nullptr && row_without_evaluation_) {
    row = *row_without_evaluation_;
    metrics_ = MetricsWriter::resume(folder_->metrics_file(), state_.step - 1);
  }
  row.seconds = seconds_before_ + seconds();
  row.val_loss = val_loss;
  row.bits_per_byte = evaluation ? evaluation->bits_per_byte : std::nullopt;
  metrics_->write(row);
  notify([&](RunHooks& each) { each.on_metrics(row); });
  if (result == nullptr) {
    return;
  }
  progress_.show({.first_step = steps_before_,
                  .step = state_.step,
                  .steps = run_.config.train.steps,
                  .loss = result->loss,
                  .evaluates = run_.config.eval.every.has_value(),
                  .val_loss = val_loss,
                  .added = result->added,
                  .lr = schedule_->lr(state_.step),
                  .tokens = state_.tokens - tokens_before_,
                  .seconds = seconds(),
                  .in_steps = seconds_in_steps_});
}

void Trainer::sample_if_due() {
  const SampleConfig& sample = run_.config.sample;
  const Task& task = *run_.task;
  state_.sample_due = false;
  if (!folder_ || !due(sample.every, state_.step) || task.tokenizer() == nullptr) {
    return;
  }
  const AnswerOptions options{.tokens = sample.tokens,
                              .sampling = {.temperature = sample.temperature,
                                           .top_k = sample.top_k,
                                           .top_p = sample.top_p,
                                           .seed = static_cast<uint64_t>(run_.config.seed),
                                           .ends = sample.end},
                              .context_length = run_.config.context_length(),
                              .stop = [&] {
                                state_.sample_due = InterruptGuard::requested() || time_is_over();
                                return state_.sample_due;
                              }};
  for (const auto& each : own_hooks_) each->exchange_weights();
  const Answer answer = task.answer(*model_, sample.prompt, options);
  for (const auto& each : own_hooks_) each->exchange_weights();
  if (state_.sample_due) {
    return;
  }
  folder_->sample(text("--- step ", state_.step, "\n", sample.prompt,
                       task.continues_prompt() ? "" : "\n", answer.text, "\n"));
}

Retention Trainer::retention() const {
  const CheckpointConfig& checkpoint = run_.config.checkpoint;
  return {checkpoint.keep, checkpoint.best ? state_.best_step : std::nullopt};
}

void Trainer::save() {
  at_step(state_.step, [&] {
    require_sound_weights(*model_, *run_.task, run_.config.train.batch_size,
                          static_cast<uint64_t>(run_.config.seed));
  });
  Optimizer* optimizer = run_.config.checkpoint.optimizer_state ? optimizer_.get() : nullptr;
  if (!folder_) {
    return;
  }
  state_.streams = streams().state();
  state_.task_position = only_batch_ ? std::vector<int64_t>() : run_.task->data().position();
  state_.sample_bytes = folder_->sample_bytes();
  state_.seconds = seconds_before_ + seconds();
  metrics_->flush_to_disk();
  save_checkpoint(folder_->path(), *model_, optimizer, state_, run_.texts(), retention(),
                  run_.made_with(), [&](const fs::path& folder, auto& files) {
                    for (const auto& each : own_hooks_) each->on_save(folder, files);
                  });
  saved_step_ = state_.step;
  InterruptGuard::set_saved(true);
}

Trainer::Trainer(LoadedRun run, std::optional<RunFolder> folder,
                 const std::optional<fs::path>& checkpoint, Workers& workers)
    : run_(std::move(run)), folder_(std::move(folder)), workers_(workers) {
  const RunConfig& config = run_.config;
  apply_settings(config);
  model_ = make_model(run_);
  optimizer_ = optimizer_registry().make(config.optimizer, trained_parameters(*model_));
  schedule_ = schedule_registry().make(config.schedule,
                                       ScheduleSetup{optimizer_->base_lr(), config.train.steps});
  if (config.train.overfit_batch) {
    only_batch_ = batch_to_overfit(run_.task->data(), config);
  }
  if (checkpoint) {
    resume(*checkpoint);
  } else {
    begin();
  }
}

// config.yaml is written first: a run can be resumed once it exists.
void Trainer::begin() {
  if (folder_) {
    folder_->write_config(to_yaml(run_.resolved));
    folder_->cut_samples(0);
    metrics_ = MetricsWriter::resume(folder_->metrics_file(), 0);
  }
}

void Trainer::resume(const fs::path& checkpoint) {
  const fs::path config = config_of_checkpoint(checkpoint);
  run_.checkpoint = checkpoint;
  require_resumable(config, run_.resolved);
  state_ = load_checkpoint(checkpoint, *model_, optimizer_.get());
  const int64_t steps = run_.config.train.steps;
  require<ConfigError>(state_.step <= steps, "train.steps: this run has done ", state_.step,
                       " steps; expected at least as many, got ", steps);
  streams().set_state(state_.streams);
  if (!only_batch_) {
    run_.task->data().set_position(state_.task_position);
  }
  compare_losses_with(config);
  workers_.gather("");  // all have read the checkpoint
  if (folder_) {
    resume_folder(checkpoint);
  }
  saved_step_ = state_.step;
}

// All that is needed has been read. Discards what was recorded after this checkpoint.
void Trainer::resume_folder(const fs::path& checkpoint) {
  std::vector<std::string> notes = changes_since(read_manifest(checkpoint), run_.made_with());
  const std::vector<MetricsRow> rows =
      read_metrics_until(folder_->metrics_file(), state_.step, notes);
  if (const std::string removed = going_back(folder_->path(), state_.step); !removed.empty()) {
    notes.push_back(removed);
  }
  for (const std::string& note : notes) {
    say(note);
  }
  prune_checkpoints(folder_->path(), state_.step, retention());
  folder_->cut_samples(state_.sample_bytes);
  metrics_ = MetricsWriter::resume(folder_->metrics_file(), state_.step);
  if (state_.evaluation_due && !rows.empty() && rows.back().step == state_.step) {
    row_without_evaluation_ = rows.back();
  }
  folder_->write_config(to_yaml(run_.resolved));
}

// Losses over other examples than before are no measure for the best one so far. Its checkpoint
// stays until the next evaluation.
void Trainer::compare_losses_with(const fs::path& config) {
  if (state_.best_val_loss && !same_evaluations(config, run_.resolved)) {
    say("eval.batches has changed: the lowest validation loss is that of the next evaluation");
    state_.best_val_loss = std::nullopt;
    state_.evaluations_since_best = 0;
  }
}

void Trainer::say(const std::string& line, const char* style) {
  if (folder_) {
    progress_.note(line, style);
    folder_->log(line);
  }
}

bool Trainer::may_update(double grad_norm, double scale) {
  const int64_t step = state_.step + 1;
  notify([&](RunHooks& each) { each.on_gradients(step, scale); });
  std::string why;
  for (const auto& each : own_hooks_) why += each->objection(grad_norm);
  if (why.empty()) return true;
  ++state_.left_out;
  say(text("step ", step, " is left out: ", why));
  return false;
}

void Trainer::notify(const std::function<void(RunHooks&)>& call) {
  for (RunHooks* each : hooks_) {
    call(*each);
    if (const std::string trouble = each->trouble(); !trouble.empty()) {
      progress_.note(trouble);  // not to the log, which may be the file that failed
    }
  }
}

double Trainer::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::string Trainer::stopped_by(const std::string& reason) const {
  if (!folder_) {
    return reason;
  }
  return text(reason, "; training stopped at step ", state_.step, "; ", last_good(),
              "; once this is put right, go on with\n  ", run_.program(), " train --resume ",
              shell_word(folder_->path().string()));
}

std::string Trainer::last_good() const {
  return saved_step_ < 0 ? "there is no checkpoint yet"
                         : text("the checkpoint of step ", saved_step_, " is the last good one");
}

}  // namespace heed
