// The checks that every task must pass.
#pragma once

#include <string>
#include <vector>

#include "tools/extras/checks/train/examine_op.h"

namespace heed {

// A task given as a line of YAML: {type: sort, length: 8}. Checks that the sizes of the model agree
// with each other, that ids and targets are within them, that masks hide padding, that batches and
// examples depend only on the seed and the saved state, that dry runs work, and that a prompt gets
// an answer.
std::vector<Finding> examine_task(const std::string& config);

}  // namespace heed
