#include "autograd/ops/arithmetic.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases arithmetic_cases("arithmetic", [](GradCaseList& list) {
  const std::vector<std::pair<Shape, Shape>> pairs = {
      {{}, {}},         {{7}, {7}},          {{33}, {33}},     {{2, 3}, {2, 3}},
      {{2, 3}, {3}},    {{3}, {2, 3}},       {{2, 3}, {}},     {{}, {2, 3}},
      {{2, 1}, {1, 3}}, {{4, 1, 3}, {2, 1}}, {{1, 1}, {3, 2}}, {{129}, {3, 129}}};
  for (const auto& [a, b] : pairs) {
    const std::vector<Tensor> inputs = {wanted(values(a)), wanted(values(b, 0.5, 2, 2))};
    const std::string shapes = text(a, " ", b);
    list.add(
        "add " + shapes, [](In in) { return in[0] + in[1]; }, inputs);
    list.add(
        "subtract " + shapes, [](In in) { return in[0] - in[1]; }, inputs);
    list.add(
        "multiply " + shapes, [](In in) { return in[0] * in[1]; }, inputs);
    list.add(
        "divide " + shapes, [](In in) { return in[0] / in[1]; }, inputs);
  }
  list.add_unary(
      "negate", [](const Tensor& x) { return -x; }, [](const Shape& s) { return values(s); });
  list.add_unary(
      "x * x", [](const Tensor& x) { return x * x; }, [](const Shape& s) { return values(s); });
  list.add_unary(
      "x + x", [](const Tensor& x) { return x + x; }, [](const Shape& s) { return values(s); });
});

TEST_CASE("arithmetic: values") {
  const Tensor a = Array::from({2, 3}, {1, 2, 3, 4, 5, 6}), b = Array::from({3}, {1, 2, 4});
  check_values(a + b, {2, 3}, {2, 4, 7, 5, 7, 10});
  check_values(a - b, {2, 3}, {0, 0, -1, 3, 3, 2});
  check_values(a * b, {2, 3}, {1, 4, 12, 4, 10, 24});
  check_values(a / b, {2, 3}, {1, 1, 0.75, 4, 2.5, 1.5});
  check_values(-b, {3}, {-1, -2, -4});
  check_values(1 - b, {3}, {0, -1, -3});
  check_values(2 * b + 1, {3}, {3, 5, 9});
  CHECK((a + Tensor(Array::zeros({0, 1, 1}))).shape() == Shape{0, 2, 3});
  CHECK((Tensor(Array::zeros({0})) * 2).shape() == Shape{0});
}

TEST_CASE("arithmetic: broadcasting over odd sizes") {
  for (const int64_t n : odd_sizes) {
    const Array row = values({n}), column = values({5, 1}, -2, 2, 3);
    const Array y = (Tensor(row) * Tensor(column)).value();
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        REQUIRE(y.data()[i * n + j] == row.data()[j] * column.data()[i]);
      }
    }
  }
}

TEST_CASE("arithmetic: 0 over a subnormal number has the gradient 0, as in PyTorch") {
  const Tensor a = wanted(Array::zeros({1}));
  const Tensor b = wanted(Array::full({1}, std::numeric_limits<real>::denorm_min()));
  (a / b).backward(Array::full({1}, 1));
  check_near(b.grad(), Array::zeros({1}));
}
