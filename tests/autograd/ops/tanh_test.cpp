#include "autograd/ops/tanh.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases tanh_cases("tanh", [](GradCaseList& list) {
  list.add_unary(
      "tanh", [](const Tensor& x) { return tanh(x); }, [](const Shape& s) { return values(s); });
});

TEST_CASE("tanh: values") {
  check_unary([](const Tensor& x) { return tanh(x); }, [](double v) { return std::tanh(v); }, -3,
              3);
  check_values(tanh(Array::from({4}, {-inf, 0, 100, inf})), {4}, {-1, 0, 1, 1});
}
