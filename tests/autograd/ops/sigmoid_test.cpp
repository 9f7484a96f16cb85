#include "autograd/ops/sigmoid.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases sigmoid_cases("sigmoid", [](GradCaseList& list) {
  list.add_unary(
      "sigmoid", [](const Tensor& x) { return sigmoid(x); },
      [](const Shape& s) { return values(s); });
});

TEST_CASE("sigmoid: values") {
  check_unary([](const Tensor& x) { return sigmoid(x); },
              [](double v) { return 1 / (1 + std::exp(-v)); }, -5, 5);
  check_values(sigmoid(Array::from({5}, {-inf, -1000, 0, 1000, inf})), {5}, {0, 0, 0.5, 1, 1});
}
