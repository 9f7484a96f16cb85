#include "autograd/ops/gelu.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases gelu_cases("gelu", [](GradCaseList& list) {
  const auto make = [](const Shape& s) { return values(s); };
  list.add_unary(
      "erf", [](const Tensor& x) { return gelu(x, Gelu::erf); }, make);
  list.add_unary(
      "tanh", [](const Tensor& x) { return gelu(x, Gelu::tanh); }, make);
  list.add_unary(
      "composed erf", [](const Tensor& x) { return gelu_composed(x, Gelu::erf); }, make);
  list.add_unary(
      "composed tanh", [](const Tensor& x) { return gelu_composed(x, Gelu::tanh); }, make);
});

TEST_CASE("gelu: values") {
  check_unary([](const Tensor& x) { return gelu(x); },
              [](double v) { return v / 2 * (1 + std::erf(v / std::sqrt(2.0))); }, -4, 4);
  check_unary([](const Tensor& x) { return gelu(x, Gelu::tanh); },
              [](double v) {
                return v / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
              },
              -4, 4);
  check_values(gelu(Array::from({3}, {-100, 0, 100})), {3}, {0, 0, 100});
}

TEST_CASE("gelu: a small Phi keeps its digits") {
  const std::vector<double> at = {-3, -5, -7};
  const Array x = Array::from({3}, {-3, -5, -7});
  const Array y = gelu(x).value();
  for (int64_t i = 0; i < 3; ++i) {
    const double v = at[static_cast<size_t>(i)];
    const double want = v / 2 * std::erfc(-v / std::sqrt(2.0));
    CHECK(y.data()[i] == doctest::Approx(want).epsilon(is_float64 ? 1e-4 : 1e-5));
  }
}

TEST_CASE("gelu: fused and composed agree") {
  for (const Gelu kind : {Gelu::erf, Gelu::tanh}) {
    for (const int64_t n : odd_sizes) {
      check_twins([&](In in) { return gelu(in[0], kind); },
                  [&](In in) { return gelu_composed(in[0], kind); }, {values({n}, -4, 4)});
    }
  }
}

TEST_CASE("gelu: the switch turns to the composed twin") {
  const Array x = values({33});
  const Array one_pass = gelu(x).value();
  set_fused(false);
  const Array composed = gelu(x).value();
  set_fused(true);
  check_same_bits(composed, gelu_composed(x).value());
  check_near(one_pass, composed);
}
