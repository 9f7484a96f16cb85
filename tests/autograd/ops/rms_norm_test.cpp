#include "autograd/ops/rms_norm.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases rms_norm_cases("rms_norm", [](GradCaseList& list) {
  for (const int64_t n : odd_sizes) {
    if (n == 1) continue;
    list.add(text("n ", n), [](In in) { return rms_norm(in[0], in[1]); },
             {wanted(values({3, n})), wanted(values({n}, 0.5, 2, 2))});
  }
  for (const Shape& s : {Shape{4}, Shape{2, 3, 4}, Shape{2, 1, 2, 4}}) {
    list.add(text(s), [](In in) { return rms_norm(in[0], in[1], 1e-3); },
             {wanted(values(s)), wanted(values({4}, 0.5, 2, 2))});
    list.add(text("composed ", s), [](In in) { return rms_norm_composed(in[0], in[1]); },
             {wanted(values(s)), wanted(values({4}, 0.5, 2, 2))});
  }
});

TEST_CASE("rms_norm: values") {
  check_values(rms_norm(Array::from({1, 2}, {3, 4}), Array::from({2}, {1, 2}), 0), {1, 2},
               {3 / std::sqrt(real(12.5)), 8 / std::sqrt(real(12.5))});
  check_values(rms_norm(Array::zeros({3}), Array::full({3}, 1)), {3}, {0, 0, 0});
}

TEST_CASE("rms_norm: fused and composed agree") {
  for (const int64_t n : odd_sizes) {
    check_twins([](In in) { return rms_norm(in[0], in[1]); },
                [](In in) { return rms_norm_composed(in[0], in[1]); },
                {values({2, 5, n}, 0.5, 2), values({n}, 0.5, 2, 2)}, 20 * rounding);
  }
}
