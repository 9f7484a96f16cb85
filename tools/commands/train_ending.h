// The last lines of `heed train`, and what to do after them: the commands that generate text with
// the model and continue the run, and what there is to look at.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "train/trainer.h"

namespace heed::cli {

struct NextSteps {
  std::filesystem::path run;
  std::string program = "heed";    // with the options that the run needs before the command
  bool generates = false;          // a language model: `heed generate` continues a prompt
  std::string prompt;              // for it, from the config; "" if there is none
  std::vector<std::string> looks;  // TrainingListener::way_to_look()
  std::vector<std::string> set;  // what has to change before the run can continue: "train.steps=40"
};

// Up to three lines (generate, look, continue), those that apply. Paths are quoted for a shell.
std::vector<std::string> next_steps(const NextSteps& of);

// Next steps are printed on a terminal only. Elsewhere the last line stays "done: RUN", or the
// command that continues.
void say_ending(Trainer& trainer, Ending ending, NextSteps next);

// "peak 79.9 MB (66.2 planned)"; the second unit only if it differs. The plan is that of a step.
std::string memory_text(int64_t peak, int64_t planned, bool trained);

}  // namespace heed::cli
