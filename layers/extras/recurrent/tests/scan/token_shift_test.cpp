#include "layers/extras/recurrent/scan/token_shift.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases token_shift_cases("token_shift", [](GradCaseList& list) {
  for (const Shape& s : {Shape{1, 1, 1}, Shape{2, 3, 4}, Shape{3, 5, 17}}) {
    const std::vector<Tensor> inputs{wanted(values(s)), wanted(values({1, 1, s[2]}, -1, 2, 2))};
    const Array last = values({s[0], 1, s[2]}, -2, 2, 3);
    list.add(
        text(s), [](In in) { return token_shift(in[0], in[1]); }, inputs);
    list.add(
        text("after others ", s), [=](In in) { return token_shift(in[0], in[1], last); }, inputs);
    list.add(
        text("composed ", s), [=](In in) { return token_shift_composed(in[0], in[1], last); },
        inputs);
  }
});

TEST_CASE("token_shift: values by hand") {
  const Tensor x = Array::from({1, 3, 2}, {4, 10, 8, 20, 12, 30});
  const Tensor mu = Array::from({1, 1, 2}, {0.25, 1});
  check_values(token_shift(x, mu), {1, 3, 2}, {1, 10, 5, 20, 9, 30});
  check_values(token_shift(x, mu, Array::from({1, 1, 2}, {8, 8})), {1, 3, 2},
               {7, 10, 5, 20, 9, 30});
}

TEST_CASE("token_shift: fused and composed agree, with any number of threads") {
  for (const int64_t n : odd_sizes) {
    const Array last = values({3, 1, n}, -2, 2, 3);
    const auto fused_shift = [&](In in) { return token_shift(in[0], in[1], last); };
    check_twins(fused_shift, [&](In in) { return token_shift_composed(in[0], in[1], last); },
                {values({3, 6, n}), values({1, 1, n}, -1, 2, 2)});
  }
  check_threads([](In in) { return token_shift(in[0], in[1]); },
                {values({5, 70, 129}), values({1, 1, 129}, -1, 2, 2)});
}

TEST_CASE("token_shift: shapes that do not fit are refused") {
  const Tensor x = Array::zeros({2, 4, 3});
  CHECK(error_of([&] { (void)token_shift(x, Array::zeros({3})); }) ==
        "token_shift: expected x (B, T >= 1, d) and mu (1, 1, d), got (2, 4, 3) and (3,)");
  CHECK(error_of([&] {
          (void)token_shift(x, Array::zeros({1, 1, 3}), Array::zeros({2, 3}));
        }) == "token_shift: expected the last token (2, 1, 3), got (2, 3)");
}
