#include "autograd/ops/erf.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases erf_cases("erf", [](GradCaseList& list) {
  list.add_unary(
      "erf", [](const Tensor& x) { return erf(x); },
      [](const Shape& s) { return values(s, -1.5, 1.5); });
});

TEST_CASE("erf: values") {
  check_unary([](const Tensor& x) { return erf(x); }, [](double v) { return std::erf(v); }, -3, 3);
  check_values(erf(Array::from({3}, {-inf, 0, inf})), {3}, {-1, 0, 1});
}
