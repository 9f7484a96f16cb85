#include "autograd/ops/silu.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases silu_cases("silu", [](GradCaseList& list) {
  list.add_unary(
      "silu", [](const Tensor& x) { return silu(x); }, [](const Shape& s) { return values(s); });
});

TEST_CASE("silu: values") {
  check_unary([](const Tensor& x) { return silu(x); },
              [](double v) { return v / (1 + std::exp(-v)); }, -5, 5);
  check_values(silu(Array::from({3}, {-1000, 0, 1000})), {3}, {0, 0, 1000});
}

TEST_CASE("silu: fused and composed agree") {
  for (const int64_t n : odd_sizes) {
    check_twins([](In in) { return silu(in[0]); }, [](In in) { return silu_composed(in[0]); },
                {values({n})});
  }
}
