#include "autograd/ops/exp.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases exp_cases("exp", [](GradCaseList& list) {
  list.add_unary(
      "exp", [](const Tensor& x) { return exp(x); }, [](const Shape& s) { return values(s); });
});

TEST_CASE("exp: values") {
  check_unary([](const Tensor& x) { return exp(x); }, [](double v) { return std::exp(v); }, -2, 2);
  check_values(exp(Array::from({3}, {-inf, 0, inf})), {3}, {0, 1, inf});
  CHECK(std::isnan(exp(Tensor(not_a_number)).item()));
}
