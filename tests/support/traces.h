// Training steps that are compared with PyTorch's, which are in tests/golden.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace heed::testing {

struct Trace {
  std::vector<double> loss, grad_norm, lr;
};

// Runs all steps of a config with the trainer's code. Its paths start at `folder`.
Trace trace_of(const std::string& config, const std::filesystem::path& folder);

// The largest |got - want| / scale(want), infinity if one is NaN. Fails the test unless both have
// as many numbers as there are steps.
double worst(
    const std::vector<double>& got, const std::vector<double>& want, size_t steps,
    const std::function<double(double)>& scale = [](double) { return 1; });

}  // namespace heed::testing
