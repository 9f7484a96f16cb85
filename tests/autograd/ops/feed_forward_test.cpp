#include "autograd/ops/feed_forward.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases feed_forward_cases("feed_forward", [](GradCaseList& list) {
  struct Sizes {
    Shape x;
    int64_t hidden, out;
  };
  for (const Gelu kind : {Gelu::erf, Gelu::tanh}) {
    for (const Sizes& s : {Sizes{{3}, 2, 1}, Sizes{{1, 1}, 1, 1}, Sizes{{2, 3, 5}, 4, 6},
                           Sizes{{5, 17}, 15, 3}, Sizes{{2, 9}, 33, 9}}) {
      const std::vector<Tensor> inputs = {
          wanted(values(s.x)), wanted(values({s.hidden, s.x[-1]}, -1, 1, 2)),
          wanted(values({s.hidden}, -2, 2, 3)), wanted(values({s.out, s.hidden}, -1, 1, 4)),
          wanted(values({s.out}, -2, 2, 5))};
      const std::string name =
          text(kind == Gelu::erf ? "erf " : "tanh ", s.x, " to ", s.hidden, " to ", s.out);
      list.add(
          name,
          [=](In in) {
            return feed_forward(in[0], {in[1], in[2]}, kind, {in[3], in[4]});
          },
          inputs);
      list.add("no biases " + name,
               [=](In in) {
                 return feed_forward(in[0], {in[1], {}}, kind, {in[2], {}});
               },
               {inputs[0], inputs[1], inputs[3]});
      list.add(
          "composed " + name,
          [=](In in) {
            return feed_forward_composed(in[0], {in[1], in[2]}, kind, {in[3], in[4]});
          },
          inputs);
    }
  }
});

TEST_CASE("feed_forward: gradient") { CHECK(check_grad_cases("feed_forward") > 0); }

TEST_CASE("feed_forward: values, and those of linear and gelu, whoever wants a gradient") {
  const Tensor x = Array::from({1, 2}, {1, -2}), w = Array::from({2, 2}, {1, 0, 0, 1});
  // torch.nn.functional.gelu(torch.tensor([1., -2.]) + 1)
  check_values(feed_forward(x, {w, Array::from({2}, {1, 1})}, Gelu::erf, {w, {}}), {1, 2},
               {real(1.9544997361036416), real(-0.15865525393145707)});
  const std::vector<Array> in = {values({3, 300, 40}), values({200, 40}, -1, 1, 2), values({200}),
                                 values({70, 200}, -1, 1, 3), values({70})};
  const double near = 100 * rounding;
  for (const Gelu kind : {Gelu::erf, Gelu::tanh}) {
    std::vector<Tensor> a(in.begin(), in.end()), b;
    for (const Array& array : in) b.push_back(wanted(array));
    const Tensor want = linear(gelu(linear(b[0], b[1], b[2]), kind), b[3], b[4]);
    const Array alone = feed_forward(a[0], {a[1], a[2]}, kind, {a[3], a[4]}).value();
    const Tensor second = feed_forward(a[0], {a[1], a[2]}, kind, {b[3], b[4]});
    for (Tensor& t : a) t = wanted(t.value());
    const Tensor got = feed_forward(a[0], {a[1], a[2]}, kind, {a[3], a[4]});
    check_near(got.value(), want.value(), near);
    check_same_bits(alone, got.value());
    check_same_bits(second.value(), got.value());
    const Array dy = values(got.shape(), -1, 1, 9);
    got.backward(dy);
    want.backward(dy);
    for (size_t k = 0; k < in.size(); ++k) check_near(a[k].grad(), b[k].grad(), near);
  }
}

TEST_CASE("feed_forward: gradients of the second map alone") {
  const Tensor x = values({4, 3}), w1 = values({5, 3}), w2 = wanted(values({2, 5}));
  feed_forward(x, {w1, {}}, Gelu::tanh, {w2, {}}).backward(Array::full({4, 2}, 1));
  const Array hidden = gelu(linear(x, w1, {}), Gelu::tanh).value();
  for (int64_t j = 0; j < 5; ++j) {
    real sum = 0;
    for (int64_t i = 0; i < 4; ++i) sum += hidden.data()[i * 5 + j];
    CHECK(w2.grad().data()[j] == doctest::Approx(static_cast<double>(sum)));
  }
}

TEST_CASE("feed_forward: fused and composed agree") {
  for (const int64_t n : odd_sizes) {
    check_twins(
        [](In in) {
          return feed_forward(in[0], {in[1], in[2]}, Gelu::tanh, {in[3], in[4]});
        },
        [](In in) {
          return feed_forward_composed(in[0], {in[1], in[2]}, Gelu::tanh, {in[3], in[4]});
        },
        {values({2, 5, n}), values({9, n}, -1, 1, 2), values({9}, -2, 2, 3),
         values({n, 9}, -1, 1, 4), values({n}, -2, 2, 5)},
        80 * rounding);
  }
}

TEST_CASE("feed_forward: no rows, and the same bits for any number of threads") {
  const Tensor w1 = wanted(values({3, 2})), w2 = wanted(values({4, 3}));
  feed_forward(Array::zeros({0, 2}), {w1, {}}, Gelu::erf, {w2, {}}).backward(Array::zeros({0, 4}));
  check_near(w1.grad(), Array::zeros({3, 2}));
  check_near(w2.grad(), Array::zeros({4, 3}));
  const auto op = [](In in) {
    return feed_forward(in[0], {in[1], in[2]}, Gelu::erf, {in[3], in[4]});
  };
  check_threads(op, {values({300, 129}), values({193, 129}, -1, 1, 2), values({193}, -2, 2, 3),
                     values({65, 193}, -1, 1, 4), values({65})});
  check_threads(op, {values({30, 129}), values({1930, 129}, -1, 1, 2), values({1930}, -2, 2, 3),
                     values({65, 1930}, -1, 1, 4), values({65})});
}
