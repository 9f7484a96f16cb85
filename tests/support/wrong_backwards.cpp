#include "tests/support/wrong_backwards.h"

#include "autograd/op.h"
#include "autograd/ops/relu.h"
#include "autograd/ops/slice.h"
#include "autograd/ops/softmax.h"

namespace heed::testing {

namespace {

using Inputs = const std::vector<Tensor>&;

// An element of x and dy, both (B, ..., n).
struct Place {
  int64_t i = 0;  // row-major
  int64_t size = 0, batches = 0, width = 0;
  const real *x = nullptr, *dy = nullptr;

  int64_t column() const { return i % width; }
  real value() const { return x[i]; }
};
using Factor = std::function<double(const Place&)>;

Array squares(const Tensor& x) {
  return map(x.value(), [](real v) { return v * v; });
}

// y = x^2, dx = factor 2 x dy. A factor other than 1 is a mistake.
Differentiable square(Factor factor) {
  return [factor](Inputs in) {
    return record("square", squares(in[0]), {in[0]},
                  [factor, x = in[0].value()](const Array& dy, Grads& grads) {
                    const Place first{0, x.size(), x.dim(0), x.dim(-1), x.data(), dy.data()};
                    grads.emit(0, [&](int64_t i) {
                      Place p = first;
                      p.i = i;
                      return static_cast<real>(factor(p)) * 2 * p.x[i] * p.dy[i];
                    });
                  });
  };
}

double right_factor(const Place&) { return 1; }

BackwardMistake wrong_square(const std::string& name, Factor factor) {
  return {name, square(std::move(factor)), square(right_factor)};
}

// The rows [0, count) of y = x^2, along the first axis.
Differentiable first_rows(Factor factor, int64_t count) {
  return [f = square(std::move(factor)), count](Inputs in) { return slice(f(in), 0, 0, count); };
}

// The larger of x and x: a tie at every element. Each of the two gets `share` of the gradient.
Differentiable larger_of_same(double share) {
  return [share](Inputs in) {
    return record(
        "larger", in[0].value().clone(), {in[0], in[0]}, [share](const Array& dy, Grads& grads) {
          for (size_t k = 0; k < 2; ++k) {
            grads.emit(k,
                       [&, v = dy.data()](int64_t i) { return static_cast<real>(share) * v[i]; });
          }
        });
  };
}

// softmax without the sum over the row: dx = y dy instead of y (dy - <y, dy>)
Tensor softmax_without_sum(Inputs in) {
  const Array y = softmax(in[0]).value();
  return record("softmax", y, {in[0]}, [y](const Array& dy, Grads& grads) {
    grads.emit(0, [v = y.data(), g = dy.data()](int64_t i) { return v[i] * g[i]; });
  });
}

// y = x^2 whose gradient lands one column to the right
Tensor shifted_square(Inputs in) {
  return record("square", squares(in[0]), {in[0]},
                [x = in[0].value()](const Array& dy, Grads& grads) {
                  grads.emit(0, [v = x.data(), g = dy.data()](int64_t i) {
                    const int64_t from = std::max<int64_t>(0, i - 1);
                    return 2 * v[from] * g[from];
                  });
                });
}

// relu whose backward lets 1% through where x < 0
Tensor leaking_relu(Inputs in) {
  return record("relu", relu(in[0]).value(), {in[0]},
                [x = in[0].value()](const Array& dy, Grads& grads) {
                  grads.emit(0, [v = x.data(), g = dy.data()](int64_t i) {
                    return v[i] > 0 ? g[i] : static_cast<real>(0.01) * g[i];
                  });
                });
}

// x^2 and its backward, but for a forward that records a graph: its value is twice that
Tensor twice_if_recorded(Inputs in) {
  const Tensor y = square(right_factor)(in);
  return record("square", map(y.value(), [&](real v) { return y.requires_grad() ? 2 * v : v; }),
                {y}, [](const Array& dy, Grads& grads) { grads.add(0, dy); });
}

// The three of the report, then others of their kind.
std::vector<BackwardMistake> make_wrong_backwards() {
  const auto right_relu = [](Inputs in) { return relu(in[0]); };
  const auto right_softmax = [](Inputs in) { return softmax(in[0]); };
  return {
      wrong_square("half as much again if x[0] > 0",
                   [](const Place& p) { return p.x[0] > 0 ? 1.5 : 1; }),
      wrong_square("0 at every odd element", [](const Place& p) { return p.i % 2 == 0 ? 1 : 0; }),
      {"0 everywhere, seen through an output of size 0",
       first_rows([](const Place&) { return 0; }, 0), first_rows(right_factor, 1),
       "nothing was compared: the output, of shape (0, "},

      wrong_square("0 in the last column",
                   [](const Place& p) { return p.column() == p.width - 1 ? 0 : 1; }),
      wrong_square("twice as much in the first batch",
                   [](const Place& p) { return p.i < p.size / p.batches ? 2 : 1; }),
      {"all of the gradient for each of two that tie", larger_of_same(1), larger_of_same(0.5)},
      wrong_square("another sign at negative inputs",
                   [](const Place& p) { return p.value() < 0 ? -1 : 1; }),
      wrong_square("0 if the first cotangent is negative",
                   [](const Place& p) { return p.dy[0] < 0 ? 0 : 1; }),
      wrong_square("1% too little at the last element",
                   [](const Place& p) { return p.i == p.size - 1 ? 0.99 : 1; }),
      wrong_square("0 from element 512 on", [](const Place& p) { return p.i < 512 ? 1 : 0; }),
      wrong_square("0 in column 17", [](const Place& p) { return p.column() == 17 ? 0 : 1; }),
      wrong_square(
          "0 at large inputs",
          [](const Place& p) { return std::abs(p.value()) > static_cast<real>(1.4) ? 0 : 1; }),
      wrong_square("1e-5 too much", [](const Place&) { return 1 + 1e-5; }),
      {"one column too far to the right", shifted_square, square(right_factor)},
      {"no sum over the row of a softmax", softmax_without_sum, right_softmax},
      {"1% where a relu lets nothing through", leaking_relu, right_relu},
      {"of another function than the one that is recorded", twice_if_recorded, square(right_factor),
       "if no graph is recorded"},
  };
}

}  // namespace

const std::vector<BackwardMistake>& wrong_backwards() {
  static const std::vector<BackwardMistake> all = make_wrong_backwards();
  return all;
}

Tensor half_square(const Tensor& x) {
  return square([](const Place&) { return 0.5; })({x});
}

}  // namespace heed::testing
