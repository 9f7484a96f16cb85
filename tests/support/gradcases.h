// Gradient cases by header. The test file of an operation lists its cases;
// autograd/ops/all_gradients_test.cpp runs those of all files, and fails if a header has none.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/near.h"
#include "train/check/gradients/gradcheck.h"

namespace heed::testing {

using In = const std::vector<Tensor>&;  // the argument of the functions under test

class GradCaseList {
 public:
  // Adds a check of f at these inputs. Compares the gradients of the inputs that require one.
  void add(std::string name, Differentiable f, std::vector<Tensor> inputs,
           GradcheckOptions options = {}) {
    cases_.push_back({std::move(name), std::move(f), std::move(inputs), options});
  }

  // Adds checks of an elementwise function for several shapes; `make` returns inputs in its domain.
  void add_unary(const std::string& name, const std::function<Tensor(const Tensor&)>& f,
                 const std::function<Array(const Shape&)>& make);

  struct Case {
    std::string name;
    Differentiable f;
    std::vector<Tensor> inputs;
    GradcheckOptions options;
  };
  const std::vector<Case>& cases() const { return cases_; }

 private:
  std::vector<Case> cases_;
};

using FillGradCases = void (*)(GradCaseList&);

// At namespace scope of a test file:
//   const GradCases exp_cases("exp", [](GradCaseList& list) {...});
struct GradCases {
  GradCases(const char* header, FillGradCases fill);
};

const std::map<std::string, FillGradCases>& grad_cases();

// Runs the cases of a header and returns how many there are. In float32 they are only counted.
int check_grad_cases(const std::string& header);

}  // namespace heed::testing
