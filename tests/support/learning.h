// Whether a config's model can learn a batch by heart.
#pragma once

#include <filesystem>
#include <vector>

namespace heed::testing {

// Trains each config on one batch until it knows it, and fails the test for one that does not. In
// float32 only, to keep the tests short. Returns how many it has trained: not gpt2_124m and
// smollm2_135m, whose steps take seconds.
int64_t expect_to_learn(const std::vector<std::filesystem::path>& configs);

}  // namespace heed::testing
