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
  std::vector<std::string> looks;  // RunHooks::way_to_look()
  std::vector<std::string> set;  // what has to change before the run can continue: "train.steps=40"
};

// Up to three lines (generate, look, continue), those that apply. Paths are quoted for a shell.
std::vector<std::string> next_steps(const NextSteps& of);

// Next steps are printed on a terminal only. Elsewhere the last line stays "done: RUN", or the
// command that continues.
void say_ending(Trainer& trainer, Ending ending, NextSteps next);

}  // namespace heed::cli
