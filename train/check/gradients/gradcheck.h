// Compares gradients with central differences: the test that every operation and layer must pass.
// In float64 only: in float32 the rounding errors are larger than the differences.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autograd/graph/tensor.h"

namespace heed {

struct GradcheckOptions {
  // Bounds |analytic - numeric| / max(|analytic|, |numeric|, largest gradient / 100, smallest).
  double tolerance = 1e-6;
  // The least denominator: a gradient that is zero except for rounding, such as that of the bias of
  // keys, has no relative error.
  double smallest = 1e-12;
  double step = 1e-4;                   // of the four-point central difference
  int64_t sample = 512;                 // elements compared one by one per input; see samples.h
  uint64_t seed = 1;                    // of the cotangent
  std::vector<std::string> names = {};  // of the inputs; by default "input 0", "input 1", ...
};

struct GradcheckResult {
  bool passed = false;
  int64_t compared = 0;  // gradient elements, one by one
  double worst = 0;      // the largest relative error
  std::string message;   // the first failure: which input and element, both numbers; else ""
};

using Differentiable = std::function<Tensor(const std::vector<Tensor>& inputs)>;

// Checks the gradients of <v, f(inputs)> for a random cotangent v. (v = 1 would hide mistakes: the
// outputs of softmax sum to 1, so a backward that returns zeros would pass.) Checks that
//   - the output is the same with and without a graph: differences are taken without one,
//   - each element of each gradient, or a sample of them, agrees with the central difference,
//   - if elements were sampled, so does the slope along a random direction over all elements of the
//     input, and along the direction that moves all inputs by the same amount (which keeps ties),
//   - the backward is linear in the cotangent,
//   - a second backward gives the same bits,
//   - gradients double if f is used twice in one graph,
//   - the gradient of each input is the same if no other input requires one.
// At a kink, where the slopes from the left and from the right differ, the gradient may be either
// slope or a number between them; see slopes.h. f must give the same result for the same inputs, so
// it has to seed dropout. The check fails on NaN, and if there is no output or no gradient.
GradcheckResult gradcheck(const Differentiable& f, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options = {});

}  // namespace heed
