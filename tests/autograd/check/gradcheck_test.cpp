// Tests of the checker: correct gradients pass, and each kind of mistake is found.
#include "autograd/check/gradcheck.h"

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/sum.h"
#include "tests/support/near.h"

using namespace heed;
using namespace heed::testing;

namespace {

using In = const std::vector<Tensor>&;

// y = a b for equal shapes, with `backward` as its backward.
template <class Backward>
Differentiable product(Backward backward) {
  return [backward](In in) {
    const Array a = in[0].value(), b = in[1].value();
    Array y = zip("product", a, b, [](real u, real v) { return u * v; });
    return record("product", std::move(y), {in[0], in[1]},
                  [a, b, backward](const Array& dy, Grads& grads) { backward(a, b, dy, grads); });
  };
}

Array times(const Array& a, const Array& b, double factor = 1) {
  return zip("times", a, b, [factor](real u, real v) { return static_cast<real>(factor) * u * v; });
}

std::vector<Tensor> two(const Shape& shape) {
  return {wanted(values(shape, 0.5, 2)), wanted(values(shape, 0.5, 2, 2))};
}

void check_refused(const Differentiable& f, const std::vector<Tensor>& inputs) {
  const GradcheckResult result = gradcheck(f, inputs);
  CHECK(!result.passed);
  CHECK(!result.message.empty());
}

}  // namespace

TEST_CASE("gradcheck: float32 is refused" * doctest::skip(is_float64)) {
  CHECK_THROWS_WITH_AS(
      gradcheck([](In in) { return in[0]; }, {wanted(values({2}))}),
      "gradcheck: needs float64, this is the float32 library; differences of float32 "
      "values are too coarse to check a gradient",
      Error);
}

TEST_CASE("gradcheck: right gradients pass" * doctest::skip(!is_float64)) {
  const GradcheckResult result = gradcheck([](In in) { return in[0] * in[1]; }, two({3, 4}));
  CHECK(result.passed);
  CHECK(result.message.empty());
  CHECK(result.compared == 24);
  CHECK(result.worst < 1e-8);
  GradcheckOptions few;
  few.sample = 10;
  const GradcheckResult sampled = gradcheck([](In in) { return in[0] * in[1]; }, two({1000}), few);
  CHECK(sampled.passed);
  CHECK(sampled.compared == 20);
}

TEST_CASE("gradcheck: refuses wrong factors" * doctest::skip(!is_float64)) {
  for (const double factor : {0.0, 1.01, 0.999, -1.0}) {
    CAPTURE(factor);
    check_refused(product([factor](const Array& a, const Array& b, const Array& dy, Grads& grads) {
                    if (grads.needs(0)) grads.add(0, times(dy, b));
                    if (grads.needs(1)) grads.add(1, times(dy, a, factor));
                  }),
                  two({5}));
  }
}

TEST_CASE("gradcheck: refuses a gradient that never comes" * doctest::skip(!is_float64)) {
  check_refused(product([](const Array&, const Array& b, const Array& dy, Grads& grads) {
                  if (grads.needs(0)) grads.add(0, times(dy, b));
                }),
                two({5}));
}

TEST_CASE("gradcheck: refuses a dropped term" * doctest::skip(!is_float64)) {
  // softmax without the sum over the row in its backward; with sum(y) as the loss this would pass
  check_refused(
      [](In in) {
        const Array y = softmax(in[0]).value();
        return record("softmax", y, {in[0]},
                      [y](const Array& dy, Grads& grads) { grads.add(0, times(dy, y)); });
      },
      {wanted(values({2, 5}))});
  check_refused(
      [](In in) {
        const Array y = softmax(in[0]).value();
        return record("softmax", y, {in[0]}, [](const Array& dy, Grads& grads) {
          grads.add(0, Array::zeros(dy.shape()));
        });
      },
      {wanted(values({2, 5}))});
}

TEST_CASE("gradcheck: refuses a backward that stores where it should add" *
          doctest::skip(!is_float64)) {
  check_refused(product([](const Array& a, const Array& b, const Array& dy, Grads& grads) {
                  const auto overwrite = [&](size_t k, const Array& g) {
                    if (grads.needs(k)) std::copy_n(g.data(), g.size(), grads.target(k).data);
                  };
                  overwrite(0, times(dy, b));
                  overwrite(1, times(dy, a));
                }),
                two({5}));
}

TEST_CASE("gradcheck: refuses a missing sum over a broadcast axis" * doctest::skip(!is_float64)) {
  check_refused(
      [](In in) {
        const Array a = in[0].value(), b = in[1].value();
        Array y = zip("add", a, b, [](real u, real v) { return u + v; });
        return record("add", std::move(y), {in[0], in[1]}, [](const Array& dy, Grads& grads) {
          if (grads.needs(0)) grads.add(0, dy);
          if (grads.needs(1))
            grads.emit(1, [g = dy.data()](int64_t i) { return g[i]; });  // the first row
        });
      },
      {wanted(values({4, 3})), wanted(values({3}))});
}

TEST_CASE("gradcheck: refuses a transposed gradient" * doctest::skip(!is_float64)) {
  check_refused(
      [](In in) {
        const Array a = in[0].value(), b = in[1].value();
        const Array y = matmul(a, b).value();
        return record("matmul", y, {in[0], in[1]}, [a, b](const Array& dy, Grads& grads) {
          if (grads.needs(0)) grads.add(0, matmul(b, dy, Trans::no, Trans::yes).value());
          if (grads.needs(1)) grads.add(1, matmul(a, dy, Trans::yes, Trans::no).value());
        });
      },
      {wanted(values({3, 3})), wanted(values({3, 3}, -2, 2, 2))});
}

TEST_CASE("gradcheck: refuses a gradient computed for two inputs only together" *
          doctest::skip(!is_float64)) {
  check_refused(product([](const Array& a, const Array& b, const Array& dy, Grads& grads) {
                  if (!grads.needs(0)) return;
                  grads.add(0, times(dy, b));
                  if (grads.needs(1)) grads.add(1, times(dy, a));
                }),
                two({5}));
}

TEST_CASE("gradcheck: refuses NaN" * doctest::skip(!is_float64)) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check_refused(product([nan](const Array& a, const Array& b, const Array& dy, Grads& grads) {
                  if (grads.needs(0)) grads.add(0, times(dy, b, nan));
                  if (grads.needs(1)) grads.add(1, times(dy, a));
                }),
                two({5}));
  check_refused([](In in) { return in[0] / Tensor(Array::zeros({2})); },
                {wanted(Array::zeros({2}))});
}

TEST_CASE("gradcheck: refuses a comparison over nothing" * doctest::skip(!is_float64)) {
  const std::string message =
      "nothing was compared: no input requires a gradient, or all are empty";
  CHECK(gradcheck([](In in) { return in[0] * 2; }, {Tensor(values({3}))}).message == message);
  CHECK(gradcheck([](In in) { return in[0] * 2; }, {wanted(Array::zeros({0}))}).message == message);
  CHECK(gradcheck([](In) { return Tensor(real{2}); }, {}).message == message);
}

TEST_CASE("gradcheck: refuses a function of more than its inputs" * doctest::skip(!is_float64)) {
  int calls = 0;
  check_refused([&calls](In in) { return in[0] * static_cast<real>(1 + 0.001 * ++calls); },
                {wanted(values({3}))});
}

TEST_CASE("gradcheck: the message names input, shape, element and both numbers" *
          doctest::skip(!is_float64)) {
  const GradcheckResult result =
      gradcheck(product([](const Array& a, const Array& b, const Array& dy, Grads& grads) {
                  if (grads.needs(0)) grads.add(0, times(dy, b));
                  if (grads.needs(1)) grads.add(1, times(dy, a, 2));
                }),
                two({2, 2}));
  CHECK(result.message.starts_with("input 1 of shape (2, 2), element 0: gradient "));
  CHECK(result.message.find(", difference ") != std::string::npos);
  CHECK(result.message.ends_with("relative error 0.5"));
}
