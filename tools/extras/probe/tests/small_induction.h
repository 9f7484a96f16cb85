// A task for probes.
#pragma once

#include "train/extras/toy_tasks/tests/made/made_task_cases.h"

namespace heed::testing {

// Induction over 8 symbols in rows of 12.
inline std::unique_ptr<Task> small_induction() {
  return made_task("induction", ConfigNode::map({{"length", 12}, {"symbols", 8}}));
}

}  // namespace heed::testing
