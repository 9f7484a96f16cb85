#include "autograd/ops/log_softmax.h"

#include "autograd/ops/log.h"
#include "autograd/ops/softmax.h"
#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases log_softmax_cases("log_softmax", [](GradCaseList& list) {
  std::vector<Shape> shapes = {Shape{3, 4}, Shape{2, 3, 4}, Shape{2, 1, 33}};
  for (const int64_t n : odd_sizes) {
    if (n > 1) shapes.push_back({n});
  }
  for (const Shape& s : shapes) {
    list.add(text(s), [](In in) { return log_softmax(in[0]); }, {wanted(values(s))});
  }
});

TEST_CASE("log_softmax: values") {
  check_values(log_softmax(Array::from({2, 2}, {0, 0, 1000, 0})), {2, 2},
               {-std::log(real{2}), -std::log(real{2}), 0, -1000});
  check_values(log_softmax(Array::from({2}, {-inf, 3})), {2}, {-inf, 0});
  for (const int64_t n : odd_sizes) {
    check_near(log_softmax(values({3, n})), log(softmax(values({3, n}))).value(), 10 * rounding);
  }
}

TEST_CASE("log_softmax: a masked row has no gradient") {
  const Tensor x = wanted(Array::full({2, 40}, -inf));
  const Tensor y = log_softmax(x);
  check_near(y, Array::full({2, 40}, -inf));
  y.backward(Array::full({2, 40}, 3));
  check_near(x.grad(), Array::zeros({2, 40}));
  CHECK(std::isnan(log_softmax(Array::full({3}, not_a_number)).value().data()[0]));
}
