#include "autograd/ops/softmax.h"

#include "autograd/ops/log_softmax.h"
#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases softmax_cases("softmax", [](GradCaseList& list) {
  std::vector<Shape> shapes = {Shape{3, 4}, Shape{2, 3, 4}, Shape{2, 1, 33}};
  for (const int64_t n : odd_sizes) {
    if (n > 1) shapes.push_back({n});
  }
  for (const Shape& s : shapes) {
    list.add(text(s), [](In in) { return softmax(in[0]); }, {wanted(values(s))});
  }
});

TEST_CASE("softmax: values") {
  check_values(softmax(Array::from({2, 2}, {0, 0, 1000, 0})), {2, 2}, {0.5, 0.5, 1, 0});
  check_values(softmax(Array::from({1}, {7})), {1}, {1});
  check_values(softmax(Array::from({3}, {-inf, 0, 0})), {3}, {0, 0.5, 0.5});
  for (const int64_t n : odd_sizes) {
    const Array x = values({n}, -5, 5), y = softmax(x).value();
    double total = 0;
    for (int64_t i = 0; i < n; ++i) total += std::exp(static_cast<double>(x.data()[i]));
    for (int64_t i = 0; i < n; ++i) {
      CHECK(static_cast<double>(y.data()[i]) ==
            doctest::Approx(std::exp(static_cast<double>(x.data()[i])) / total).epsilon(1e-5));
    }
  }
  CHECK(softmax(Array::zeros({0, 3})).shape() == Shape{0, 3});
}

TEST_CASE("softmax: a masked row gives zeros, a NaN stays") {
  const Tensor x = wanted(Array::full({2, 40}, -inf));
  const Tensor y = softmax(x);
  check_near(y, Array::zeros({2, 40}));
  y.backward(Array::full({2, 40}, 3));
  check_near(x.grad(), Array::zeros({2, 40}));
  CHECK(std::isnan(softmax(Array::full({3}, not_a_number)).value().data()[0]));
  CHECK(std::isnan(softmax(Array::from({2}, {-inf, not_a_number})).value().data()[0]));
  CHECK(std::isnan(softmax(Array::from({2}, {inf, 0})).value().data()[0]));
}

TEST_CASE("softmax: large scores") {
  for (const double size : {88.8, 1e4, 3e38}) {
    const real v = static_cast<real>(size);
    check_values(softmax(Array::from({2}, {v, -v})), {2}, {1, 0});
  }
}

TEST_CASE("softmax: a NaN makes its row NaN, whatever its bits") {
  for (const real nan : nans_with_payloads()) {
    for (const int64_t at : {0, 3, 19}) {
      Array x = values({2, 20});
      x.mutable_data()[at] = nan;
      const Array y = softmax(x).value();
      for (int64_t i = 0; i < 40; ++i) CHECK(std::isnan(y.data()[i]) == (i < 20));
    }
  }
}

TEST_CASE("softmax: a row of millions of numbers") {
  // A 1 and then 0.1 sixteen million times: floats that add up numbers one by one stop growing.
  constexpr int64_t n = int64_t{1} << 24;
  Array x = Array::full({n}, std::log(real(0.1)));
  x.mutable_data()[0] = 0;
  const double sum = 1 + 0.1 * static_cast<double>(n - 1);
  CHECK(static_cast<double>(softmax(x).value().data()[0]) * sum ==
        doctest::Approx(1).epsilon(1e-4));
  CHECK(static_cast<double>(log_softmax(x).value().data()[0]) ==
        doctest::Approx(-std::log(sum)).epsilon(1e-4));
}
