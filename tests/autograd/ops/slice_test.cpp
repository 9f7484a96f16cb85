#include "autograd/ops/slice.h"

#include "autograd/ops/arithmetic.h"
#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases slice_cases("slice", [](GradCaseList& list) {
  for (const Shape& s : {Shape{5}, Shape{3, 4}, Shape{2, 3, 5}}) {
    for (int axis = 0; axis < s.rank(); ++axis) {
      for (const auto& [begin, end] :
           std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {1, s[axis]}}) {
        list.add(text(s, " axis ", axis, " from ", begin),
                 [=, b = begin, e = end](In in) { return slice(in[0], axis, b, e); },
                 {wanted(values(s))});
      }
    }
  }
  list.add("overlapping", [](In in) { return slice(in[0], 0, 0, 4) * slice(in[0], 0, 2, 6); },
           {wanted(values({6, 3}))});
});

TEST_CASE("slice: values") {
  const Tensor x = Array::from({2, 3}, {1, 2, 3, 4, 5, 6});
  check_values(slice(x, 1, 1, 3), {2, 2}, {2, 3, 5, 6});
  check_values(slice(x, 0, 1, 2), {1, 3}, {4, 5, 6});
  check_values(slice(x, -1, -1, 3), {2, 1}, {3, 6});
  check_values(slice(x, 1, 0, -1), {2, 2}, {1, 2, 4, 5});
  CHECK(slice(x, 1, 2, 2).shape() == Shape{2, 0});
}

TEST_CASE("slice: an empty part gives a gradient of zeros") {
  const Tensor x = wanted(values({2, 3}));
  slice(x, 1, 1, 1).backward(Array::zeros({2, 0}));
  check_near(x.grad(), Array::zeros({2, 3}));
}
