// Checks an operation for what every operation must satisfy: correct gradients, a backward that
// holds no graph, the same bits for any number of threads, unchanged inputs, finite results.
#pragma once

#include <string>
#include <vector>

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

// The numbers of threads to compare. The destructor restores the number that was set before.
class ThreadCounts {
 public:
  ThreadCounts();
  ~ThreadCounts();
  ThreadCounts(const ThreadCounts&) = delete;
  ThreadCounts& operator=(const ThreadCounts&) = delete;
  const std::vector<int> several{1, 2, 3, 5};  // compared with one thread

 private:
  const int before_;
};

// How to fix results that depend on the number of threads, or differ from call to call for one.
const char* threads_hint(int threads);

}  // namespace heed
