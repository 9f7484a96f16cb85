#include "autograd/ops/linear_gelu.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases linear_gelu_cases("linear_gelu", [](GradCaseList& list) {
  struct Sizes {
    Shape x;
    int64_t out;
  };
  for (const Gelu kind : {Gelu::erf, Gelu::tanh}) {
    for (const Sizes& s : {Sizes{{3}, 2}, Sizes{{1, 1}, 1}, Sizes{{2, 3, 5}, 4}, Sizes{{5, 17}, 15},
                           Sizes{{2, 9}, 33}}) {
      const std::vector<Tensor> inputs = {wanted(values(s.x)),
                                          wanted(values({s.out, s.x[-1]}, -1, 1, 2)),
                                          wanted(values({s.out}, -2, 2, 3))};
      const std::string name = text(kind == Gelu::erf ? "erf " : "tanh ", s.x, " to ", s.out);
      list.add(
          name, [=](In in) { return linear_gelu(in[0], in[1], in[2], kind); }, inputs);
      list.add("no bias " + name, [=](In in) { return linear_gelu(in[0], in[1], Tensor(), kind); },
               {inputs[0], inputs[1]});
      list.add(
          "composed " + name,
          [=](In in) { return linear_gelu_composed(in[0], in[1], in[2], kind); }, inputs);
    }
  }
});

TEST_CASE("linear_gelu: gradient") { CHECK(check_grad_cases("linear_gelu") > 0); }

TEST_CASE("linear_gelu: values, and the bits of linear and gelu") {
  const Tensor x = Array::from({1, 2}, {1, -2}), w = Array::from({2, 2}, {1, 0, 0, 1});
  // torch.nn.functional.gelu(torch.tensor([1., -2.]) + 1)
  check_values(linear_gelu(x, w, Array::from({2}, {1, 1}), Gelu::erf), {1, 2},
               {real(1.9544997361036416), real(-0.15865525393145707)});
  for (const Gelu kind : {Gelu::erf, Gelu::tanh}) {
    const Tensor a = values({3, 300, 40}), b = values({200, 40}, -1, 1, 2), c = values({200});
    check_same_bits(linear_gelu(a, b, c, kind).value(), gelu(linear(a, b, c), kind).value());
  }
}

TEST_CASE("linear_gelu: fused and composed agree") {
  for (const int64_t n : odd_sizes) {
    check_twins([](In in) { return linear_gelu(in[0], in[1], in[2], Gelu::tanh); },
                [](In in) { return linear_gelu_composed(in[0], in[1], in[2], Gelu::tanh); },
                {values({2, 5, n}), values({9, n}, -1, 1, 2), values({9}, -2, 2, 3)},
                40 * rounding);
  }
}

TEST_CASE("linear_gelu: no rows, and the same bits for any number of threads") {
  const Tensor w = wanted(values({3, 2}));
  linear_gelu(Array::zeros({0, 2}), w, Tensor(), Gelu::erf).backward(Array::zeros({0, 3}));
  check_near(w.grad(), Array::zeros({3, 2}));
  check_threads([](In in) { return linear_gelu(in[0], in[1], in[2], Gelu::erf); },
                {values({300, 129}), values({193, 129}, -1, 1, 2), values({193}, -2, 2, 3)});
  check_threads([](In in) { return linear_gelu(in[0], in[1], in[2], Gelu::erf); },
                {values({30, 129}), values({1930, 129}, -1, 1, 2), values({1930}, -2, 2, 3)});
}

TEST_CASE("linear_gelu: refuses what linear refuses") {
  CHECK_THROWS_AS(linear_gelu(Array::zeros({2, 3}), Array::zeros({3, 2}), Tensor(), Gelu::erf),
                  ShapeError);
}
