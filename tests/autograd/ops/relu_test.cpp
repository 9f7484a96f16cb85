#include "autograd/ops/relu.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases relu_cases("relu", [](GradCaseList& list) {
  list.add_unary(
      "relu", [](const Tensor& x) { return relu(x); },
      [](const Shape& s) { return values_off_zero(s); });
});

TEST_CASE("relu: values") {
  check_unary([](const Tensor& x) { return relu(x); }, [](double v) { return std::max(v, 0.0); },
              -2, 2);
  check_values(relu(Array::from({3}, {-1, 0, 2})), {3}, {0, 0, 2});
  CHECK(std::isnan(relu(Tensor(std::numeric_limits<real>::quiet_NaN())).item()));
}

TEST_CASE("relu: the slope at 0 is 0") {
  const Tensor x = wanted(Array::from({3}, {-1, 0, 1}));
  relu(x).backward(Array::full({3}, 5));
  check_near(x.grad(), Array::from({3}, {0, 0, 5}));
}
