#include "autograd/ops/var.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases var_cases("var", [](GradCaseList& list) {
  for (const int correction : {0, 1}) {
    for (const Shape& s : {Shape{2}, Shape{17}, Shape{3, 4}, Shape{2, 3, 4}, Shape{3, 1, 2}}) {
      list.add(text("all ", s, " correction ", correction),
               [=](In in) { return var(in[0], {.correction = correction}); }, {wanted(values(s))});
      for (int axis = 0; axis < s.rank(); ++axis) {
        if (s[axis] <= 1) continue;
        for (const bool keepdim : {false, true}) {
          list.add(text("axis ", axis, " ", s, " correction ", correction, " keepdim ", keepdim),
                   [=](In in) {
                     return var(in[0], axis, {.correction = correction, .keepdim = keepdim});
                   },
                   {wanted(values(s))});
        }
      }
    }
  }
});

TEST_CASE("var: values") {
  const Tensor x = Array::from({2, 3}, {1, 2, 3, 4, 6, 8});
  check_values(var(x), {}, {real(6.8)});
  check_values(var(x, 1), {2}, {1, 4});
  check_values(var(x, 1, {.correction = 0}), {2}, {real(2) / 3, real(8) / 3});
  check_values(var(x, 0, {.keepdim = true}), {1, 3}, {4.5, 8, 12.5});
  check_values(var(x, {.keepdim = true}), {1, 1}, {real(6.8)});
  // Two passes: a large mean costs no precision.
  check_values(var(Array::from({3}, {100001, 100002, 100003})), {}, {1});
  check_values(var(Array::full({5}, 3), {.correction = 0}), {}, {0});
}
