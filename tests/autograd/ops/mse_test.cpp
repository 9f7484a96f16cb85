#include "autograd/ops/mse.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases mse_cases("mse", [](GradCaseList& list) {
  for (const Shape& s : {Shape{}, Shape{1}, Shape{17}, Shape{3, 4}, Shape{2, 3, 4}}) {
    list.add(text(s), [](In in) { return mse(in[0], in[1]); },
             {wanted(values(s)), wanted(values(s, -2, 2, 2))});
    list.add(text("constant target ", s), [](In in) { return mse(in[0], in[1]); },
             {wanted(values(s)), Tensor(values(s, -2, 2, 2))});
  }
});

TEST_CASE("mse: values") {
  check_values(mse(Array::from({2}, {1, 2}), Array::from({2}, {1, 5})), {}, {4.5});
}
