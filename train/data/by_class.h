// How a model does on each class, for `heed eval`.
#pragma once

#include <vector>

#include "train/data/score_table.h"
#include "train/data/task.h"

namespace heed {

// Adds a row for each class of Score::confusion, unless there is none: its examples; of its answers
// how many are right (precision); of its examples how many are found (recall). The task names them.
void add_by_class(const Score& score, const Task& task, std::vector<ScoreTable>& tables);

}  // namespace heed
