#include "autograd/ops/masked_fill.h"

#include "autograd/ops/softmax.h"
#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases masked_fill_cases("masked_fill", [](GradCaseList& list) {
  for (const auto& [x, mask] : std::vector<std::pair<Shape, Shape>>{{{7}, {7}},
                                                                    {{33}, {33}},
                                                                    {{2, 4}, {2, 4}},
                                                                    {{2, 4}, {4}},
                                                                    {{3, 2, 4}, {2, 4}},
                                                                    {{3, 2, 4}, {3, 1, 4}},
                                                                    {{3, 4}, {3, 1}},
                                                                    {{2, 129}, {129}}}) {
    list.add(text(x, " mask ", mask),
             [mask = mask](In in) { return masked_fill(in[0], every_third(mask), -5); },
             {wanted(values(x))});
  }
  list.add("-inf under softmax",
           [](In in) {
             return softmax(masked_fill(in[0], every_third({4, 4}), -inf));
           },
           {wanted(values({4, 4}))});
});

TEST_CASE("masked_fill: values") {
  const Tensor x = Array::from({2, 2}, {1, 2, 3, 4});
  check_values(masked_fill(x, mask_of({2, 2}, {1, 0, 0, 1}), -inf), {2, 2}, {-inf, 2, 3, -inf});
  check_values(masked_fill(x, mask_of({2}, {0, 1}), 0), {2, 2}, {1, 0, 3, 0});
  check_values(masked_fill(x, mask_of({2, 1}, {0, 1}), 9), {2, 2}, {1, 2, 9, 9});
  check_values(masked_fill(x, logical_not(mask_of({2}, {0, 1})), 0), {2, 2}, {0, 2, 0, 4});
  check_values(masked_fill(Tensor(real{3}), mask_of({}, {1}), 5), {}, {5});
  CHECK(masked_fill(Array::zeros({0, 2}), mask_of({2}, {0, 1}), 1).shape() == Shape{0, 2});
}

TEST_CASE("masked_fill: an infinite gradient under the mask is gone") {
  const Tensor x = wanted(Array::from({2}, {1, 2}));
  masked_fill(x, mask_of({2}, {1, 0}), 0).backward(Array::from({2}, {inf, 3}));
  check_near(x.grad(), Array::from({2}, {0, 3}));
}
