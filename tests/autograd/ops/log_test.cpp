#include "autograd/ops/log.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases log_cases("log", [](GradCaseList& list) {
  list.add_unary(
      "log", [](const Tensor& x) { return log(x); },
      [](const Shape& s) { return values(s, 0.3, 3); });
});

TEST_CASE("log: values") {
  check_unary([](const Tensor& x) { return log(x); }, [](double v) { return std::log(v); }, 0.1, 4);
  check_values(log(Array::from({3}, {0, 1, inf})), {3}, {-inf, 0, inf});
  CHECK(std::isnan(log(Tensor(real{-1})).item()));
}
