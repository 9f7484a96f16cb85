// Compares gradients with central differences: the test that every operation and layer must pass.
// In float64 only: float32 rounds too coarsely for differences.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autograd/graph/tensor.h"

namespace heed {

struct GradcheckOptions {
  // Bounds |analytic - numeric| / max(|analytic|, |numeric|, largest gradient / 100, smallest).
  double tolerance = 1e-6;
  // The least denominator, for gradients that are zero but for rounding. The bias of the keys has
  // such a gradient: it shifts all scores of a query alike.
  double smallest = 1e-12;
  double step = 1e-4;                   // of the four-point central difference
  int64_t sample = 512;                 // elements of an input compared one by one; see samples.h
  uint64_t seed = 1;                    // of the cotangent
  std::vector<std::string> names = {};  // of the inputs; by default "input 0", "input 1", ...
};

struct GradcheckResult {
  bool passed = false;
  int64_t compared = 0;  // gradient elements compared one by one
  double worst = 0;      // the largest relative error
  std::string message;   // the first failure: input, element and both gradients; "" if none
};

using Differentiable = std::function<Tensor(const std::vector<Tensor>& inputs)>;

// Checks the gradients of <v, f(inputs)> for a random cotangent v. (v = 1 would hide mistakes: the
// outputs of softmax sum to 1, so a backward that returns zeros would pass.) Checks that
//   - the output is the same with and without a graph: differences are taken without one,
//   - each element of each gradient, or a sample of them, agrees with the central difference,
//   - so does the slope along a direction that moves all inputs alike (which keeps ties) and, where
//     elements were sampled, along a random direction of all elements of the input,
//   - the backward is linear in the cotangent,
//   - a second run gives the same bits,
//   - gradients double if f is used twice in one graph,
//   - the gradient of each input is the same if no other input requires one.
// At a kink, where the slopes from the left and from the right differ, the gradient may be either
// slope or a number between them; see slopes.h. f must give the same result for the same inputs: it
// must seed dropout in every call. The check fails on NaN, and if there is no output or gradient.
GradcheckResult gradcheck(const Differentiable& f, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options = {});

}  // namespace heed
