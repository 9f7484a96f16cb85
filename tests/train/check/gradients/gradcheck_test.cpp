// Tests of the checker: correct gradients pass, and each kind of mistake is found.
#include "train/check/gradients/gradcheck.h"

#include <algorithm>

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/max.h"
#include "autograd/ops/relu.h"
#include "autograd/ops/slice.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/sum.h"
#include "tests/support/near.h"
#include "tests/support/wrong_backwards.h"

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

// Numbers that float32 rounds.
Array rounded(const Shape& shape, std::initializer_list<double> numbers) {
  Array a = Array::uninitialised(shape);
  std::transform(numbers.begin(), numbers.end(), a.mutable_data(),
                 [](double v) { return static_cast<real>(v); });
  return a;
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
      "gradcheck: needs float64, this is the float32 library; central differences of "
      "float32 values are too coarse to check a gradient",
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

TEST_CASE("gradcheck: refuses what an output of size 0 shows" * doctest::skip(!is_float64)) {
  const GradcheckResult result =
      gradcheck([](In in) { return slice(in[0] * in[0], 0, 0, 0); }, {wanted(values({4, 2}))});
  CHECK(!result.passed);
  CHECK(result.message == "nothing was compared: the output, of shape (0, 2), is empty");
}

TEST_CASE("gradcheck: refuses every wrong backward of the table" * doctest::skip(!is_float64)) {
  CHECK(wrong_backwards().size() >= 13);
  for (const BackwardMistake& c : wrong_backwards()) {
    CAPTURE(c.name);
    for (const Shape& shape : {Shape{2, 16, 32}, Shape{32, 32}}) {
      Array x = values(shape, -1.5, 1.5);
      x.mutable_data()[0] = static_cast<real>(0.7);
      const GradcheckResult wrong = gradcheck(c.wrong, {wanted(x)});
      CHECK(!wrong.passed);
      CHECK_MESSAGE(wrong.message.find(c.says) != std::string::npos, wrong.message);
      const GradcheckResult right = gradcheck(c.right, {wanted(x)});
      CHECK_MESSAGE(right.passed, right.message);
    }
  }
}

TEST_CASE("gradcheck: wrong elements that are not in the sample are found along a direction" *
          doctest::skip(!is_float64)) {
  GradcheckOptions along_only;
  along_only.sample = 0;
  for (const BackwardMistake& c : wrong_backwards()) {
    CAPTURE(c.name);
    Array x = values({2, 16, 32}, -1.5, 1.5);
    x.mutable_data()[0] = static_cast<real>(0.7);
    CHECK(!gradcheck(c.wrong, {wanted(x)}, along_only).passed);
    const GradcheckResult right = gradcheck(c.right, {wanted(x)}, along_only);
    CHECK_MESSAGE(right.passed, right.message);
    CHECK(right.compared == 0);
  }
}

TEST_CASE("gradcheck: right gradients at and beside kinks pass" * doctest::skip(!is_float64)) {
  const Array x = rounded(
      {13}, {0, 0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-7, -1e-7, 1e-5, -1e-5, 1.5e-4, -1.5e-4, 1});
  const auto check_passes = [](const Differentiable& f, const std::vector<Tensor>& inputs) {
    const GradcheckResult result = gradcheck(f, inputs);
    CHECK_MESSAGE(result.passed, result.message);
    CHECK(result.worst <= 1e-6);
  };
  check_passes([](In in) { return relu(in[0]); }, {wanted(x)});
  check_passes([](In in) { return relu(in[0]) * relu(in[0] + 1); }, {wanted(x)});
  check_passes([](In in) { return relu(in[0]); }, {wanted(Array::zeros({40}))});
  // Ties and near ties of a maximum, with both rules: the first of equals, and equal shares.
  check_passes([](In in) { return max(in[0], 1); },
               {wanted(rounded({3, 3}, {1, 1, 0, 2, 2, 2, 1, 1 + 1e-6, 1}))});
  check_passes([](In in) { return max(in[0]); }, {wanted(Array::from({4}, {1, 3, 3, 3}))});
}

TEST_CASE("gradcheck: refuses wrong gradients at and beside kinks" * doctest::skip(!is_float64)) {
  const auto relu_with = [](double below, double at, double above) {
    return [=](In in) {
      return record("relu", relu(in[0]).value(), {in[0]},
                    [=, x = in[0].value()](const Array& dy, Grads& grads) {
                      grads.emit(0, [&](int64_t i) {
                        const real v = x.data()[i];
                        return static_cast<real>(v < 0 ? below : v > 0 ? above : at) * dy.data()[i];
                      });
                    });
    };
  };
  for (const double x : {1e-7, 1e-6, 1e-5, 5e-5, 1.5e-4}) {
    CAPTURE(x);
    const std::vector<Tensor> above{wanted(rounded({1}, {x}))};
    const std::vector<Tensor> below{wanted(rounded({1}, {-x}))};
    for (const double wrong : {-1.0, 0.5, 2.0}) {
      check_refused(relu_with(0, 0, wrong), above);
      check_refused(relu_with(wrong, 0, 1), below);
    }
    check_refused(relu_with(0, 0, 0), above);
    check_refused(relu_with(1, 0, 1), below);
    CHECK(gradcheck(relu_with(0, 0, 1), above).passed);
    CHECK(gradcheck(relu_with(0, 0, 1), below).passed);
  }
  const std::vector<Tensor> zero{wanted(Array::zeros({3}))};
  for (const double right : {0.0, 0.5, 1.0}) CHECK(gradcheck(relu_with(0, right, 1), zero).passed);
  for (const double wrong : {-0.5, 1.01, 2.0}) check_refused(relu_with(0, wrong, 1), zero);
}

TEST_CASE("gradcheck: refuses the whole gradient for each of the elements that tie" *
          doctest::skip(!is_float64)) {
  // Each element alone has a kink, where the whole gradient could be right. Not for all together.
  const auto largest = [](In in) {
    const Array y = max(in[0]).value();
    return record("max", y, {in[0]}, [x = in[0].value(), y](const Array& dy, Grads& grads) {
      grads.emit(0, [&](int64_t i) { return x.data()[i] == y.data()[0] ? dy.data()[0] : 0; });
    });
  };
  CHECK(gradcheck(largest, {wanted(Array::from({3}, {1, 3, 2}))}).passed);
  const GradcheckResult tied = gradcheck(largest, {wanted(Array::from({3}, {3, 3, 2}))});
  CHECK(tied.message.starts_with("all inputs moved alike: gradient "));
}

TEST_CASE("gradcheck: refuses a backward that is not linear" * doctest::skip(!is_float64)) {
  const auto product_if = [](bool (*wrong)(const Array& dy)) {
    return product([wrong](const Array& a, const Array& b, const Array& dy, Grads& grads) {
      if (grads.needs(0)) grads.add(0, times(dy, b, wrong(dy) ? 2 : 1));
      if (grads.needs(1)) grads.add(1, times(dy, a));
    });
  };
  CHECK(gradcheck(product_if([](const Array&) { return false; }), two({5})).passed);
  check_refused(product_if([](const Array& dy) { return dy.data()[0] < 0; }), two({5}));
  check_refused(product_if([](const Array& dy) { return dy.data()[1] > 0; }), two({5}));
  check_refused(product_if([](const Array& dy) { return std::abs(dy.data()[2]) > 2; }), two({5}));
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
  CHECK(result.message.find(", central difference ") != std::string::npos);
  CHECK(result.message.ends_with("relative error 0.5"));
}
