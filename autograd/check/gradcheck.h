// Compares gradients with finite differences: the test that every operation and layer must pass. In
// float64 only: in float32 the rounding errors are larger than the differences.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autograd/graph/tensor.h"

namespace heed {

struct GradcheckOptions {
  double tolerance = 1e-6;  // of |analytic - numeric| / max(|analytic|, |numeric|, largest / 100)
  double step = 1e-4;       // of the four-point central difference
  int64_t sample = 512;     // elements compared per input, evenly spaced in a larger one
  uint64_t seed = 1;        // of the cotangent
  double smallest = 1e-12;  // the least denominator: a gradient that is zero except for rounding
                            // (such as that of the bias of keys) has no relative error
  std::vector<std::string> names =
      {};  // of the inputs, for the message; default "input 0", "input 1", ...
};

struct GradcheckResult {
  bool passed = false;
  int64_t compared = 0;  // gradient elements
  double worst = 0;      // the largest relative error
  std::string message;   // the first failure: which input and element, both numbers; else ""
};

using Differentiable = std::function<Tensor(const std::vector<Tensor>& inputs)>;

// Checks the gradients of <v, f(inputs)> for a random cotangent v. (v = 1 would hide mistakes: the
// outputs of softmax sum to 1, so a backward that returns zeros would pass.) Checks that
//   - each element of each gradient agrees with the finite difference,
//   - a second backward gives the same bits,
//   - gradients double if f is used twice in one graph,
//   - the gradient of each input is the same if no other input requires one.
// f must give the same result for the same inputs: seed dropout inside it. The check fails on NaN,
// and if there is nothing to compare.
GradcheckResult gradcheck(const Differentiable& f, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options = {});

}  // namespace heed
