#include "autograd/ops/stack.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases stack_cases("stack", [](GradCaseList& list) {
  for (int axis = -3; axis <= 2; ++axis) {
    list.add(text("axis ", axis), [axis](const std::vector<Tensor>& in) { return stack(in, axis); },
             {wanted(values({2, 3})), wanted(values({2, 3}, -2, 2, 2))});
  }
  list.add("numbers", [](const std::vector<Tensor>& in) { return stack(in); },
           {wanted(values({})), wanted(values({}, -2, 2, 2))});
});

TEST_CASE("stack: values") {
  const Tensor a = Array::from({2}, {1, 2}), b = Array::from({2}, {3, 4});
  check_values(stack({a, b}), {2, 2}, {1, 2, 3, 4});
  check_values(stack({a, b}, -1), {2, 2}, {1, 3, 2, 4});
  check_values(stack({Tensor(real{1}), Tensor(real{2})}), {2}, {1, 2});
}

TEST_CASE("stack: gradient") { CHECK(check_grad_cases("stack") > 0); }

TEST_CASE("stack: refuses") {
  CHECK_THROWS_WITH_AS(stack({}), "stack: expected at least one tensor, got none", ShapeError);
  CHECK_THROWS_WITH_AS(stack({Array::zeros({2}), Array::zeros({3})}),
                       "stack: expected tensors of one shape, got (2,) and, as number 1, (3,)",
                       ShapeError);
  CHECK_THROWS_WITH_AS(stack({Array::zeros({2})}, 2), "stack: expected an axis from -2 to 1, got 2",
                       ShapeError);
}
