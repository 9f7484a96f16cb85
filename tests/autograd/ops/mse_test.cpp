#include "autograd/ops/mse.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases mse_cases("mse", [](GradCaseList& list) {
  for (const Shape& s : {Shape{}, Shape{1}, Shape{17}, Shape{3, 4}, Shape{2, 3, 4}}) {
    list.add(text(s), [](const std::vector<Tensor>& in) { return mse(in[0], in[1]); },
             {wanted(values(s)), wanted(values(s, -2, 2, 2))});
    list.add(text("constant target ", s),
             [](const std::vector<Tensor>& in) { return mse(in[0], in[1]); },
             {wanted(values(s)), Tensor(values(s, -2, 2, 2))});
  }
});

TEST_CASE("mse: values") {
  check_values(mse(Array::from({2}, {1, 2}), Array::from({2}, {1, 5})), {}, {4.5});
}

TEST_CASE("mse: gradient") { CHECK(check_grad_cases("mse") > 0); }

TEST_CASE("mse: refuses") {
  CHECK_THROWS_WITH_AS(mse(Array::zeros({2}), Array::zeros({2, 1})),
                       "mse: expected two tensors of one shape, got (2,) and (2, 1)", ShapeError);
  CHECK_THROWS_WITH_AS(mse(Array::zeros({0}), Array::zeros({0})),
                       "mse: expected at least one element, got (0,)", ShapeError);
}
