#include "autograd/ops/sqrt.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases sqrt_cases("sqrt", [](GradCaseList& list) {
  list.add_unary(
      "sqrt", [](const Tensor& x) { return sqrt(x); },
      [](const Shape& s) { return values(s, 0.3, 3); });
});

TEST_CASE("sqrt: values") {
  check_unary([](const Tensor& x) { return sqrt(x); }, [](double v) { return std::sqrt(v); }, 0, 4);
  check_values(sqrt(Array::from({3}, {0, 1, 4})), {3}, {0, 1, 2});
  CHECK(std::isnan(sqrt(Tensor(real{-1})).item()));
}
