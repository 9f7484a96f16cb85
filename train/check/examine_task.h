// The checks that every task has to pass.
#pragma once

#include <string>
#include <vector>

#include "autograd/check/examine_op.h"

namespace heed {

// The task of a line of YAML, {type: sort, length: 8}: ids and targets within their vocabularies,
// examples and batches that follow from seed and saved state alone, dry runs.
std::vector<Finding> examine_task(const std::string& config);

}  // namespace heed
