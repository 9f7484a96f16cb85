#include "autograd/ops/max.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Elements so far apart that a step of the finite difference cannot change their order.
Array spread(const Shape& shape) {
  Array a = Array::uninitialised(shape);
  for (int64_t i = 0; i < a.size(); ++i) {
    a.mutable_data()[i] = static_cast<real>((i * 7919 + 3) % 1009) / 100 - 5;
  }
  return a;
}

}  // namespace

const GradCases max_cases("max", [](GradCaseList& list) {
  for (const Shape& s : {Shape{}, Shape{1}, Shape{17}, Shape{3, 4}, Shape{2, 3, 4}}) {
    list.add(text("all ", s), [](In in) { return max(in[0]); }, {wanted(spread(s))});
    for (int axis = 0; axis < s.rank(); ++axis) {
      for (const bool keepdim : {false, true}) {
        list.add(text("axis ", axis, " ", s, " keepdim ", keepdim),
                 [=](In in) { return max(in[0], axis, keepdim); }, {wanted(spread(s))});
      }
    }
  }
});

TEST_CASE("max: values") {
  const Tensor x = Array::from({2, 3}, {1, 5, 3, 4, 2, 6});
  check_values(max(x), {}, {6});
  check_values(max(x, 0), {3}, {4, 5, 6});
  check_values(max(x, 1, true), {2, 1}, {5, 6});
  const Ids index = argmax(Array::from({2, 3}, {1, 5, 5, 4, 2, 4}), 1);
  CHECK(index.shape() == Shape{2});
  CHECK(index.data()[0] == 1);  // the first of equals
  CHECK(index.data()[1] == 0);
  const real nan = std::numeric_limits<real>::quiet_NaN();
  CHECK(std::isnan(max(Array::from({3}, {1, nan, 2})).item()));
  CHECK(argmax(Array::from({3}, {1, nan, 2}), 0).data()[0] == 1);
  CHECK(max(Array::zeros({0, 2}), 1).shape() == Shape{0});
}

TEST_CASE("max: ties, as in PyTorch") {
  const Tensor x = wanted(Array::from({4}, {1, 3, 3, 2}));
  max(x).backward();
  check_near(x.grad(), Array::from({4}, {0, 0.5, 0.5, 0}));
  const Tensor rows = wanted(Array::from({1, 4}, {1, 3, 3, 2}));
  max(rows, 1).backward();
  check_near(rows.grad(), Array::from({1, 4}, {0, 1, 0, 0}));
}
