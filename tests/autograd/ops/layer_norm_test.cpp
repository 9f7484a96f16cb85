#include "autograd/ops/layer_norm.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases layer_norm_cases("layer_norm", [](GradCaseList& list) {
  for (const int64_t n : odd_sizes) {
    if (n == 1) continue;
    const std::vector<Tensor> inputs = {wanted(values({3, n})), wanted(values({n}, 0.5, 2, 2)),
                                        wanted(values({n}, -2, 2, 3))};
    list.add(
        text("n ", n), [](In in) { return layer_norm(in[0], in[1], in[2]); }, inputs);
    list.add(text("no shift ", n), [](In in) { return layer_norm(in[0], in[1], Tensor()); },
             {inputs[0], inputs[1]});
  }
  for (const Shape& s : {Shape{4}, Shape{2, 3, 4}, Shape{2, 1, 2, 4}}) {
    list.add(text(s), [](In in) { return layer_norm(in[0], in[1], in[2], 1e-3); },
             {wanted(values(s)), wanted(values({4}, 0.5, 2, 2)), wanted(values({4}, -2, 2, 3))});
    list.add(text("composed ", s), [](In in) { return layer_norm_composed(in[0], in[1], in[2]); },
             {wanted(values(s)), wanted(values({4}, 0.5, 2, 2)), wanted(values({4}, -2, 2, 3))});
  }
});

TEST_CASE("layer_norm: values") {
  const real r = std::sqrt(real(1.5));  // 1 / sqrt(2/3)
  const Tensor x = Array::from({1, 3}, {1, 2, 3});
  check_values(layer_norm(x, Array::full({3}, 1), Tensor(), 0), {1, 3}, {-r, 0, r});
  check_values(layer_norm(x, Array::from({3}, {2, 1, 1}), Array::from({3}, {0, 5, 1}), 0), {1, 3},
               {-2 * r, 5, r + 1});
  check_values(layer_norm(Array::full({4}, 7), Array::full({4}, 1), Tensor()), {4}, {0, 0, 0, 0});
}

TEST_CASE("layer_norm: fused and composed agree") {
  for (const int64_t n : odd_sizes) {
    // The gradient of a row of one number is 0. The composed form computes rounding errors times
    // 1 / sqrt(eps) instead.
    const double tolerance = n == 1 ? 1e-3 : 20 * rounding;
    check_twins([](In in) { return layer_norm(in[0], in[1], in[2]); },
                [](In in) { return layer_norm_composed(in[0], in[1], in[2]); },
                {values({2, 5, n}), values({n}, 0.5, 2, 2), values({n}, -2, 2, 3)}, tolerance);
  }
}

TEST_CASE("layer_norm: two numbers, whose gradient nearly cancels, keep their digits") {
  // With h = +-a: dx_0 = rstd (g_0 - g_1) (1 - a^2) / 2 = -dx_1, and 1 - a^2 = eps rstd^2.
  const Array x = values({20, 2}, -2, 2, 1), dy = values({20, 2}, -1, 1, 2);
  const Tensor leaf = wanted(x.clone());
  layer_norm(leaf, Array::full({2}, 1), Tensor()).backward(dy.clone());
  const Array dx = leaf.grad();
  for (int64_t r = 0; r < 20; ++r) {
    const auto at = [r](const Array& a, int64_t i) {
      return static_cast<double>(a.data()[2 * r + i]);
    };
    const double half = (at(x, 0) - at(x, 1)) / 2;
    const double rstd = 1 / std::sqrt(half * half + 1e-5);
    const double want = rstd * rstd * rstd * 1e-5 * (at(dy, 0) - at(dy, 1)) / 2;
    CHECK(at(dx, 0) == doctest::Approx(want).epsilon(is_float64 ? 1e-8 : 1e-5));
    CHECK(at(dx, 1) == doctest::Approx(-want).epsilon(is_float64 ? 1e-8 : 1e-5));
  }
}

TEST_CASE("layer_norm: no rows") {
  const Tensor x = wanted(Array::zeros({0, 3})), scale = wanted(Array::full({3}, 1));
  const Tensor y = layer_norm(x, scale, Tensor());
  CHECK(y.shape() == Shape{0, 3});
  y.backward(Array::zeros({0, 3}));
  check_near(scale.grad(), Array::zeros({3}));
}
