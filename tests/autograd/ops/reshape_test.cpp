#include "autograd/ops/reshape.h"

#include "autograd/ops/arithmetic.h"
#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases reshape_cases("reshape", [](GradCaseList& list) {
  for (const auto& [from, to] : std::vector<std::pair<Shape, Shape>>{{{}, {1, 1}},
                                                                     {{6}, {2, 3}},
                                                                     {{2, 3}, {6}},
                                                                     {{2, 3, 4}, {4, 6}},
                                                                     {{1}, {}},
                                                                     {{2, 3}, {2, 3}}}) {
    list.add(text(from, " to ", to),
             [to = to](In in) { return reshape(in[0], to) * Tensor(values(to)); },
             {wanted(values(from))});
  }
});

TEST_CASE("reshape: values") {
  const Tensor x = Array::from({2, 3}, {1, 2, 3, 4, 5, 6});
  check_values(reshape(x, {3, 2}), {3, 2}, {1, 2, 3, 4, 5, 6});
  check_values(reshape(Tensor(real{4}), {1, 1}), {1, 1}, {4});
  CHECK(reshape(Array::zeros({0, 3}), {5, 0}).shape() == Shape{5, 0});
}

TEST_CASE("reshape: two gradients that share a buffer do not disturb each other") {
  const Tensor x = wanted(Array::from({2}, {1, 2}));
  const Tensor y = x * 1;
  const Tensor z = reshape(y, {2, 1}) + reshape(y + y, {2, 1});
  z.backward(Array::from({2, 1}, {1, 10}));
  check_near(x.grad(), Array::from({2}, {3, 30}));
}
