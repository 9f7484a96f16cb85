#include "autograd/ops/mean.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases mean_cases("mean", [](GradCaseList& list) {
  for (const Shape& s : {Shape{}, Shape{1}, Shape{17}, Shape{3, 4}, Shape{2, 3, 4}}) {
    list.add(text("all ", s), [](In in) { return mean(in[0]); }, {wanted(values(s))});
    for (int axis = 0; axis < s.rank(); ++axis) {
      for (const bool keepdim : {false, true}) {
        list.add(text("axis ", axis, " ", s, " keepdim ", keepdim),
                 [=](In in) { return mean(in[0], axis, keepdim); }, {wanted(values(s))});
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
