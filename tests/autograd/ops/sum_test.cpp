#include "autograd/ops/sum.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases sum_cases("sum", [](GradCaseList& list) {
  for (const Shape& s : {Shape{}, Shape{1}, Shape{17}, Shape{3, 4}, Shape{2, 3, 4}}) {
    list.add(text("all ", s), [](In in) { return sum(in[0]); }, {wanted(values(s))});
    for (int axis = 0; axis < s.rank(); ++axis) {
      for (const bool keepdim : {false, true}) {
        list.add(text("axis ", axis, " ", s, " keepdim ", keepdim),
                 [=](In in) { return sum(in[0], axis, keepdim); }, {wanted(values(s))});
      }
    }
  }
});

TEST_CASE("sum: values") {
  const Tensor x = Array::from({2, 3}, {1, 2, 3, 4, 5, 6});
  check_values(sum(x), {}, {21});
  check_values(sum(x, 0), {3}, {5, 7, 9});
  check_values(sum(x, -1), {2}, {6, 15});
  check_values(sum(x, 1, true), {2, 1}, {6, 15});
  check_values(sum(Array::zeros({0})), {}, {0});
  check_values(sum(Array::zeros({2, 0}), 1), {2}, {0, 0});
  CHECK(sum(Array::zeros({2, 0}), 0).shape() == Shape{0});
  // 17,000,001 ones: a float accumulator would stop at 2^24.
  CHECK(sum(Array::full({17000001}, 1)).item() == real(17000001));
}

TEST_CASE("sum: the same bits for any number of threads") {
  for (const int axis : {0, 1, 2}) {
    check_threads([axis](In in) { return sum(in[0], axis); }, {values({33, 129, 65})});
  }
  check_threads([](In in) { return sum(in[0]); }, {values({100003})});
}
