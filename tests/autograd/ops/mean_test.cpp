#include "autograd/ops/mean.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases mean_cases("mean", [](GradCaseList& list) {
  for (const Shape& s : {Shape{}, Shape{1}, Shape{17}, Shape{3, 4}, Shape{2, 3, 4}}) {
    list.add(text("all ", s), [](const std::vector<Tensor>& in) { return mean(in[0]); },
             {wanted(values(s))});
    for (int axis = 0; axis < s.rank(); ++axis) {
      for (const bool keepdim : {false, true}) {
        list.add(text("axis ", axis, " ", s, " keepdim ", keepdim),
                 [=](const std::vector<Tensor>& in) { return mean(in[0], axis, keepdim); },
                 {wanted(values(s))});
      }
    }
  }
});

TEST_CASE("mean: values") {
  const Tensor x = Array::from({2, 3}, {1, 2, 3, 4, 5, 6});
  check_values(mean(x), {}, {3.5});
  check_values(mean(x, 0), {3}, {2.5, 3.5, 4.5});
  check_values(mean(x, -1, true), {2, 1}, {2, 5});
  CHECK(mean(Array::zeros({0, 2}), 1).shape() == Shape{0});
}

TEST_CASE("mean: gradient") { CHECK(check_grad_cases("mean") > 0); }

TEST_CASE("mean: refuses nothing to average") {
  CHECK_THROWS_WITH_AS(mean(Array::zeros({0})), "mean: expected at least one element, got (0,)",
                       ShapeError);
  CHECK_THROWS_WITH_AS(mean(Array::zeros({2, 0}), 1),
                       "mean: expected at least one element on axis 1, got (2, 0)", ShapeError);
}
