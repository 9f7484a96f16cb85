#include "tools/commands/train_ending.h"

#include <unistd.h>

#include "layers/text/display.h"
#include "tools/terminal/table.h"
#include "train/checkpoint/checkpoint.h"
#include "train/files/files.h"
#include "train/files/fingerprint.h"
#include "train/files/human_readable.h"

namespace heed::cli {

namespace {

constexpr size_t longest_prompt = 40;  // bytes; for a longer one `heed generate` asks

bool fits_a_line(const std::string& prompt) {
  return !prompt.empty() && prompt.size() <= longest_prompt && printable(prompt) == prompt;
}

// If the validation loss has clearly risen since it was lowest: how far, and what helps.
void say_if_risen(Trainer& trainer) {
  const TrainingState& state = trainer.state();
  if (trainer.val_loss().value_or(0) <= 1.02 * state.best_val_loss.value_or(0)) {
    return;
  }
  const std::string best = step_name(state.best_step.value_or(0));
  const bool kept = is_there(trainer.folder().path() / "checkpoints" / best);
  trainer.say(text("val loss   has risen: ", loss_text(*state.best_val_loss), " at step ",
                   *state.best_step, ", ", loss_text(*trainer.val_loss()),
                   " now; the examples are being learned by heart"));
  trainer.say(text("           checkpoints/", best, kept ? " is kept" : " is not kept",
                   "; eval.patience=3 stops in time, checkpoint.best=true keeps it"));
}

}  // namespace

std::vector<std::string> next_steps(const NextSteps& of) {
  const std::string run = shell_word(of.run.string());
  std::vector<std::string> lines;
  if (of.generates) {
    lines.push_back("write      " + of.program + " generate " + run +
                    (fits_a_line(of.prompt) ? " --prompt " + shell_word(of.prompt) : ""));
  }
  std::string look;
  for (const std::string& way : of.looks) {
    look += (look.empty() ? "look       " : ", or ") + way;
  }
  if (!look.empty()) {
    lines.push_back(look);
  }
  std::string resume = "go on      " + of.program + " train --resume " + run;
  for (const std::string& value : of.set) {
    resume += " --set " + shell_word(value);
  }
  lines.push_back(resume);
  return lines;
}

void say_ending(Trainer& trainer, Ending ending, NextSteps next) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const TrainingState& state = trainer.state();
  const std::string run = trainer.folder().path().string();
  if (ending == Ending::no_gain) {
    trainer.say(text("stopped early at step ", state.step, ": the last ",
                     state.evaluations_since_best, " evaluations have not lowered the validation ",
                     "loss of step ", state.best_step.value_or(0), ", ",
                     state.best_val_loss.value_or(0), " (eval.patience)"));
    next.set = {text("eval.patience=", 2 * state.evaluations_since_best)};
  }
  std::string verdict = "done: " + run;
  if (ending == Ending::finished || ending == Ending::no_gain) {
    say_if_risen(trainer);
  } else {
    next.set.clear();
    verdict = text(ending == Ending::interrupted ? "interrupted" : "time is over", " at step ",
                   trainer.step(), ", saved");
  }
  if (terminal) {
    const auto val = trainer.val_loss();
    const auto weights =
        trainer.folder().path() / "checkpoints" / step_name(state.step) / "model.safetensors";
    verdict += text(" (", grouped(state.step), " steps in ", clock_text(state.seconds),
                    val ? ", val " + loss_text(*val) : "", ", weights ",
                    fingerprint_file(weights).letters(), ")");
  } else if (next.set.empty()) {
    verdict += "; go on with\n  " + next.program + " train --resume " + shell_word(run);
  }
  trainer.say(verdict, "1");
  for (const std::string& line : terminal ? next_steps(next) : std::vector<std::string>()) {
    std::fprintf(stderr, "%s\n", printable_lines(line).c_str());  // whole, for a shell
  }
}

}  // namespace heed::cli
