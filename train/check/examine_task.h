// The checks that every task must pass.
#pragma once

#include <string>
#include <vector>

#include "train/check/examine_op.h"

namespace heed {

// A task given as a line of YAML: {type: sort, length: 8}. Checks that ids and targets are within
// their vocabularies, that batches and examples depend only on the seed and the saved state, and
// that dry runs work.
std::vector<Finding> examine_task(const std::string& config);

}  // namespace heed
