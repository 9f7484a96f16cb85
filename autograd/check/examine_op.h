// What everybody expects of an operation, checked for one's own: right gradients, the same bits for
// any number of threads, inputs that stay as they were, numbers that are finite.
#pragma once

#include <string>
#include <vector>

#include "autograd/check/gradcheck.h"

namespace heed {

// One thing that was looked at.
struct Finding {
  std::string what;     // "gradients"
  std::string message;  // what is wrong and what to mend; "" when all is well
};

// `f` of constants and parameters of these shapes, uniform in [-1.5, 1.5). Gradients are compared
// with differences in float64 only. f must be a function of its inputs: seed dropout inside it.
std::vector<Finding> examine_op(const Differentiable& f, const std::vector<Shape>& shapes);

// Runs `check`, which returns a message, and turns an error that it ends with into one.
Finding examine(const std::string& what, const std::function<std::string()>& check);

// "" when both have the same shape and bits, else where they differ first: "element 3: 1 and 2".
std::string difference(const Array& a, const Array& b);

// The numbers of threads that everything is tried with; what was set before comes back.
class ThreadCounts {
 public:
  ThreadCounts();
  ~ThreadCounts();
  ThreadCounts(const ThreadCounts&) = delete;
  ThreadCounts& operator=(const ThreadCounts&) = delete;
  const std::vector<int> several{2, 3, 5};  // beside one

 private:
  const int before_;
};

// What to mend where threads give other bits.
extern const char* const threads_hint;

}  // namespace heed
