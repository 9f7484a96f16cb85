// Checks an operation for what every operation must satisfy: correct gradients, a backward that
// holds no graph, the same bits for any number of threads, unchanged inputs, finite results.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/extras/checks/layers/layer_inputs.h"
#include "train/check/gradients/gradcheck.h"

namespace heed {

// The result of one check.
struct Finding {
  std::string what;     // "causality"
  std::string message;  // what is wrong and how to fix it; "" if the check passed
};

// Runs all checks on f, for inputs of these shapes, uniform in [-1.5, 1.5), every third number in
// [-6, 6); gradients, in float64 only, for 4,099 numbers, too. Inputs that are written to or get no
// gradient, results that differ from call to call (seed dropout in f): the only finding then.
std::vector<Finding> examine_op(const Differentiable& f, const std::vector<Shape>& shapes);

// Runs `check`, which returns a message. If it throws, the message is that of the exception.
Finding examine(const std::string& what, const std::function<std::string()>& check);

// For operations and layers alike. Each returns "" or what is wrong; `given`: " given x (2, 5)".
// Compares runs of one thread and of several.
std::string compare_threads(const std::function<RunResults()>& run, const std::string& given = "");
// The first result that is not finite: "the gradient of x".
std::string not_finite(const RunResults& results);
std::string was_written_to(const std::string& name, const Array& before, const Array& after);

}  // namespace heed
