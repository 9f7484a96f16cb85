// Compares gradients with differences of values: the test that every operation and layer passes,
// built in or from outside. In float64 only; in float32 the differences drown in rounding.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autograd/graph/tensor.h"

namespace heed {

struct GradcheckOptions {
  double tolerance = 1e-6;  // of |analytic - numeric| / max(|analytic|, |numeric|, largest / 100)
  double step = 1e-4;       // of the four-point central difference
  int64_t sample = 512;     // elements compared of an input; a larger one is sampled evenly
  uint64_t seed = 1;        // of the cotangent
  double smallest = 1e-12;  // errors of smaller gradients are relative to this: what is zero but
                            // for rounding (the bias of a key) has no relative error
  std::vector<std::string> names =
      {};  // of the inputs, for the message; else "input 0", "input 1", ...
};

struct GradcheckResult {
  bool passed = false;
  int64_t compared = 0;  // gradient elements
  double worst = 0;      // the largest relative error
  std::string message;   // the first failure: which input and element, both numbers; else ""
};

using Differentiable = std::function<Tensor(const std::vector<Tensor>& inputs)>;

// Checks d<v, f(inputs)> for a random cotangent v, never the sum of the outputs: that hides
// mistakes, softmax's all of them. Inputs that require a gradient are compared element by element;
// then f is used twice in one graph (gradients must double), run backward again (same bits), and,
// with more than one such input, run with each of them alone requiring its gradient. f must be a
// function of its inputs: seed dropout inside it. Fails on NaN, and when there is nothing to
// compare.
GradcheckResult gradcheck(const Differentiable& f, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options = {});

}  // namespace heed
