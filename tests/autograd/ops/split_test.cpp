#include "autograd/ops/split.h"

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/concat.h"
#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases split_cases("split", [](GradCaseList& list) {
  for (int axis = 0; axis < 3; ++axis) {
    list.add(text("in two, axis ", axis),
             [axis](In in) {
               const std::vector<Tensor> parts = split(in[0], 2, axis);
               return parts[0] * parts[1];
             },
             {wanted(values({4, 4, 4}))});
    list.add(text("by sizes, axis ", axis),
             [axis](In in) {
               const std::vector<Tensor> parts = split(in[0], std::vector<int64_t>{1, 0, 3}, axis);
               return concat({parts[2], parts[0] * 2, parts[1]}, axis);
             },
             {wanted(values({4, 4, 4}))});
    list.add(text("one part unused, axis ", axis),
             [axis](In in) { return split(in[0], 3, axis)[1]; }, {wanted(values({4, 4, 4}))});
  }
});

TEST_CASE("split: values") {
  const Tensor x = Array::from({2, 3}, {1, 2, 3, 4, 5, 6});
  const std::vector<Tensor> parts = split(x, 2, 1);
  REQUIRE(parts.size() == 2);
  check_values(parts[0], {2, 2}, {1, 2, 4, 5});
  check_values(parts[1], {2, 1}, {3, 6});
  check_values(concat(split(x, std::vector<int64_t>{1, 2}, -1), -1), {2, 3}, {1, 2, 3, 4, 5, 6});
}
