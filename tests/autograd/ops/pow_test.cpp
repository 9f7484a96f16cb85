#include "autograd/ops/pow.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases pow_cases("pow", [](GradCaseList& list) {
  for (const double p : {-2.0, -0.5, 0.5, 1.0, 1.7, 2.0, 3.0, 4.0}) {
    for (const Shape& s : {Shape{}, Shape{7}, Shape{33}, Shape{3, 4}}) {
      list.add(text("x^", p, " ", s), [p](In in) { return pow(in[0], p); },
               {wanted(values(s, 0.5, 2))});
    }
  }
  const Array with_zero = Array::from({4}, {-1.5, 0, 0.5, 2});
  for (const double p : {1.0, 2.0, 3.0}) {
    list.add(text("x^", p, " around 0"), [p](In in) { return pow(in[0], p); }, {wanted(with_zero)});
  }
  for (const auto& [a, b] : std::vector<std::pair<Shape, Shape>>{
           {{}, {}}, {{5}, {5}}, {{2, 3}, {3}}, {{3}, {2, 3}}, {{2, 1}, {1, 3}}, {{4}, {}}}) {
    list.add(text("tensors ", a, " ", b), [](In in) { return pow(in[0], in[1]); },
             {wanted(values(a, 0.5, 2)), wanted(values(b, -2, 2, 2))});
  }
});

TEST_CASE("pow: values") {
  for (const double p : {-2.0, 0.0, 0.5, 1.0, 2.0, 3.0, 5.0}) {
    check_unary([p](const Tensor& x) { return pow(x, p); },
                [p](double v) { return std::pow(v, p); }, 0.5, 2);
  }
  check_values(pow(Array::from({3}, {-2, 0, 2}), 3), {3}, {-8, 0, 8});
  check_values(pow(Array::from({2}, {2, 3}), Tensor(Array::from({2, 1}, {2, 0}))), {2, 2},
               {4, 9, 1, 1});
}

TEST_CASE("pow: the gradient at 0 is finite") {
  for (const double p : {0.0, 1.0, 2.0, 3.0, 4.0}) {
    CAPTURE(p);
    const Tensor x = wanted(Array::zeros({2}));
    pow(x, p).backward(Array::full({2}, 1));
    check_near(x.grad(), Array::full({2}, p == 1 ? 1 : 0));
  }
  const Tensor x = wanted(Array::zeros({1})), p = wanted(Array::from({1}, {0}));
  pow(x, p).backward();
  check_near(x.grad(), Array::zeros({1}));
  check_near(p.grad(), Array::zeros({1}));
}

// PyTorch 2.13: torch.tensor([-inf, -1, 0, 4, inf]).pow(0.5) and its gradient.
TEST_CASE("pow: a half is the square root, at -infinity too") {
  const Tensor x = wanted(Array::from({5}, {-inf, -1, 0, 4, inf}));
  const Tensor y = pow(x, 0.5);
  check_values(y, {5}, {not_a_number, not_a_number, 0, 2, inf});
  y.backward(Array::full({5}, 1));
  check_near(x.grad(), Array::from({5}, {not_a_number, not_a_number, inf, real(0.25), 0}));
}
