#include "autograd/ops/stack.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases stack_cases("stack", [](GradCaseList& list) {
  for (int axis = -3; axis <= 2; ++axis) {
    list.add(text("axis ", axis), [axis](In in) { return stack(in, axis); },
             {wanted(values({2, 3})), wanted(values({2, 3}, -2, 2, 2))});
  }
  list.add("numbers", [](In in) { return stack(in); },
           {wanted(values({})), wanted(values({}, -2, 2, 2))});
});

TEST_CASE("stack: values") {
  const Tensor a = Array::from({2}, {1, 2}), b = Array::from({2}, {3, 4});
  check_values(stack({a, b}), {2, 2}, {1, 2, 3, 4});
  check_values(stack({a, b}, -1), {2, 2}, {1, 3, 2, 4});
  check_values(stack({Tensor(real{1}), Tensor(real{2})}), {2}, {1, 2});
}
