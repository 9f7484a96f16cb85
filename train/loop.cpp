// The loop of a run: step, evaluate, log, sample, save. A step is train_step() in step.cpp.
#include "train/loop.h"

#include "train/run/interrupt.h"
#include "train/trainer.h"

namespace heed {

Ending Trainer::run_steps() {
  const TrainConfig& train = run_.config.train;
  const Batch* const only = only_batch_ ? &*only_batch_ : nullptr;
  Ending ending = patience_is_over() ? Ending::no_gain : Ending::finished;
  if (state_.evaluation_due || state_.sample_due) {  // left out when the run was stopped
    ending = end_step(nullptr);
  }
  while (state_.step < train.steps && ending == Ending::finished) {
    const int64_t step = state_.step + 1;
    const double lr = schedule_->lr(step), begin = seconds();
    const StepResult result = at_step(step, [&] {
      return train_step(*model_, *run_.task, *optimizer_, train, lr, only, workers_,
                        [this](double norm, double scale) { return may_update(norm, scale); });
    });
    seconds_in_steps_ += seconds() - begin;
    state_.step = step;
    state_.tokens += result.tokens;
    InterruptGuard::set_saved(false);
    ending = end_step(&result);
  }
  return ending;
}

Ending Trainer::end_step(const StepResult* result) {
  const int64_t step = state_.step;
  const bool last = step == run_.config.train.steps;
  std::optional<Evaluation> evaluation;
  if (result != nullptr || state_.evaluation_due) evaluation = evaluate_if_due();
  write_metrics(result, evaluation);
  if (result != nullptr || state_.sample_due) at_step(step, [&] { sample_if_due(); });
  const Ending ending = workers_.agree(ending_now(last));
  const bool new_best = run_.config.checkpoint.best && state_.best_step == step;
  if (due(run_.config.checkpoint.every, step) || last || new_best || ending != Ending::finished ||
      result == nullptr) {
    save();
  }
  if (evaluation) {
    notify([&](RunHooks& each) { each.on_evaluation(step, *evaluation); });
  }
  if (ending != Ending::finished || last) {
    notify([&](RunHooks& each) { each.on_end(step, /*diverged=*/false); });
  }
  return ending;
}

}  // namespace heed
