#include "autograd/ops/concat.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases concat_cases("concat", [](GradCaseList& list) {
  for (int axis = -3; axis < 3; ++axis) {
    const Shape s = {2, 3, 4};
    list.add(text("axis ", axis), [axis](In in) { return concat(in, axis); },
             {wanted(values(s.with(axis, 1))), wanted(values(s.with(axis, 5), -2, 2, 2)),
              wanted(values(s, -2, 2, 3))});
  }
  list.add("one", [](In in) { return concat(in, 0); }, {wanted(values({7}))});
  list.add("the same twice",
           [](In in) {
             return concat({in[0], in[0]}, 0);
           },
           {wanted(values({7}))});
});

TEST_CASE("concat: values") {
  const Tensor a = Array::from({2, 1}, {1, 2}), b = Array::from({2, 2}, {3, 4, 5, 6});
  check_values(concat({a, b}, 1), {2, 3}, {1, 3, 4, 2, 5, 6});
  check_values(concat({b, b}, 0), {4, 2}, {3, 4, 5, 6, 3, 4, 5, 6});
  check_values(concat({a, Array::zeros({2, 0})}, -1), {2, 1}, {1, 2});
}
