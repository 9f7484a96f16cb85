#include "autograd/ops/divide_by_sum.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases divide_by_sum_cases("divide_by_sum", [](GradCaseList& list) {
  for (const Shape& s : {Shape{3, 4}, Shape{2, 3, 5}, Shape{2, 33}, Shape{17}}) {
    list.add(text(s), [](In in) { return divide_by_sum(in[0]); }, {wanted(values(s, 0.2, 1))});
  }
  list.add("of both signs", [](In in) { return divide_by_sum(in[0]); },
           {wanted(Array::from({2, 3}, {real(0.5), -2, 3, -1, real(-0.25), real(0.5)}))});
});

TEST_CASE("divide_by_sum: values") {
  check_values(divide_by_sum(Array::from({2, 2}, {1, 3, -1, 5})), {2, 2},
               {0.25, 0.75, -0.25, 1.25});
  check_values(divide_by_sum(Array::from({1}, {-7})), {1}, {1});
  CHECK(divide_by_sum(Array::zeros({0, 3})).shape() == Shape{0, 3});
  CHECK(std::isnan(divide_by_sum(Array::from({2}, {1, not_a_number})).value().data()[0]));
}

TEST_CASE("divide_by_sum: a row whose sum is 0 gives zeros and zero gradients") {
  const Tensor x = wanted(Array::from({3, 2}, {0, 0, 2, -2, 1, 3}));
  const Tensor y = divide_by_sum(x);
  check_values(y, {3, 2}, {0, 0, 0, 0, 0.25, 0.75});
  y.backward(Array::from({3, 2}, {1, 2, 1, 2, 4, 0}));
  check_values(x.grad(), {3, 2}, {0, 0, 0, 0, 0.75, -0.25});
}
