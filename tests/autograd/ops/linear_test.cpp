#include "autograd/ops/linear.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases linear_cases("linear", [](GradCaseList& list) {
  struct Sizes {
    Shape x;
    int64_t out;
  };
  for (const Sizes& s : {Sizes{{3}, 2}, Sizes{{1, 1}, 1}, Sizes{{4, 7}, 8}, Sizes{{2, 3, 5}, 4},
                         Sizes{{2, 1, 2, 3}, 2}, Sizes{{5, 17}, 15}, Sizes{{2, 33}, 31}}) {
    const std::vector<Tensor> inputs = {wanted(values(s.x)),
                                        wanted(values({s.out, s.x[-1]}, -2, 2, 2)),
                                        wanted(values({s.out}, -2, 2, 3))};
    const std::string name = text(s.x, " to ", s.out);
    list.add(
        name, [](In in) { return linear(in[0], in[1], in[2]); }, inputs);
    list.add("no bias " + name, [](In in) { return linear(in[0], in[1], Tensor()); },
             {inputs[0], inputs[1]});
    list.add(
        "composed " + name, [](In in) { return linear_composed(in[0], in[1], in[2]); }, inputs);
  }
  list.add("weight used twice",
           [](In in) { return linear(linear(in[0], in[1], Tensor()), in[1], Tensor()); },
           {wanted(values({4, 3})), wanted(values({3, 3}, -2, 2, 2))});
});

TEST_CASE("linear: values") {
  const Tensor x = Array::from({2, 2}, {1, 2, 3, 4}), w = Array::from({3, 2}, {1, 0, 0, 1, 1, 1});
  check_values(linear(x, w, Tensor()), {2, 3}, {1, 2, 3, 3, 4, 7});
  check_values(linear(x, w, Array::from({3}, {10, 20, 30})), {2, 3}, {11, 22, 33, 13, 24, 37});
  check_values(linear(Array::from({2}, {1, 2}), w, Tensor()), {3}, {1, 2, 3});
  CHECK(linear(Array::zeros({0, 2}), w, Tensor()).shape() == Shape{0, 3});
  check_values(linear(Array::zeros({2, 0}), Array::zeros({1, 0}), Array::full({1}, 4)), {2, 1},
               {4, 4});
}

TEST_CASE("linear: gradient") { CHECK(check_grad_cases("linear") > 0); }

TEST_CASE("linear: fused and composed agree") {
  for (const int64_t n : odd_sizes) {
    check_twins([](In in) { return linear(in[0], in[1], in[2]); },
                [](In in) { return linear_composed(in[0], in[1], in[2]); },
                {values({2, 5, n}), values({9, n}, -2, 2, 2), values({9}, -2, 2, 3)},
                20 * rounding);
  }
}

TEST_CASE("linear: no rows give gradients of zeros") {
  const Tensor w = wanted(values({3, 2})), b = wanted(values({3}));
  linear(Array::zeros({0, 2}), w, b).backward(Array::zeros({0, 3}));
  check_near(w.grad(), Array::zeros({3, 2}));
  check_near(b.grad(), Array::zeros({3}));
}
