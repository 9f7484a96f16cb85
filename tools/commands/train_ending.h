// The last lines of `heed train`.
#pragma once

#include <string>

#include "tools/commands/next_steps.h"
#include "train/trainer.h"

namespace heed::cli {

// Next steps are printed on a terminal only. Elsewhere the last line stays "done: RUN", or the
// command that continues.
void say_ending(Trainer& trainer, Ending ending, NextSteps next);

// "peak 79.9 MB (66.2 planned)"; the second unit only if it differs. The plan is that of a step.
std::string memory_text(int64_t peak, int64_t planned, bool trained);

}  // namespace heed::cli
