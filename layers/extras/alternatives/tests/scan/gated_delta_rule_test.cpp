#include "layers/extras/alternatives/scan/gated_delta_rule.h"

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/slice.h"
#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

namespace {

struct DeltaShape {
  int64_t batch, tokens, heads, d, e;
};

// Queries, keys, values, ln alpha, beta. Keys are short enough for S to stay small.
std::vector<Array> delta_inputs(const DeltaShape& s) {
  const Shape keys{s.batch, s.tokens, s.heads * s.d}, gates{s.batch, s.tokens, s.heads};
  const real most = 1 / std::sqrt(static_cast<real>(s.d));
  return {values(keys, -1, 1, 1), values(keys, -most, most, 2),
          values({s.batch, s.tokens, s.heads * s.e}, -2, 2, 3), values(gates, -0.7, 0, 4),
          values(gates, 0, 1, 5)};
}

Tensor delta_rule(In in) { return gated_delta_rule({in[0], in[1], in[2], in[3], in[4]}); }

GatedDelta delta_part(const std::vector<Array>& in, int64_t begin, int64_t end) {
  const auto part = [&](size_t i) { return slice(Tensor(in[i]), 1, begin, end); };
  return {part(0), part(1), part(2), part(3), part(4)};
}

}  // namespace

const GradCases gated_delta_rule_cases("gated_delta_rule", [](GradCaseList& list) {
  for (const DeltaShape& s : {DeltaShape{1, 1, 1, 1, 1}, DeltaShape{2, 3, 2, 3, 2},
                              DeltaShape{1, 35, 2, 2, 3}, DeltaShape{1, 5, 1, 17, 4}}) {
    std::vector<Tensor> all;
    for (const Array& a : delta_inputs(s)) all.push_back(wanted(a));
    list.add(text(s.batch, " ", s.tokens, " ", s.heads, " ", s.d, " ", s.e), delta_rule, all);
  }
  list.add("one tensor as queries, keys and values",
           [](In in) {
             return gated_delta_rule({in[0], in[0], in[0], -in[1], in[1]});
           },
           {wanted(values({2, 34, 4}, -0.7, 0.7)), wanted(values({2, 34, 2}, 0.2, 0.9, 2))});
});

TEST_CASE("gated delta rule: values by hand") {
  // One number in and out. S_1 = 1/2 * 2 * 8 = 8. Then the value of key 1 becomes, by half, 20:
  // S_2 = 3/4 (1 - 1/2) 8 + 1/2 * 20 = 13.
  const Tensor q = Array::from({1, 2, 1}, {10, 1}), k = Array::from({1, 2, 1}, {2, 1});
  const Tensor v = Array::from({1, 2, 1}, {8, 20});
  const Tensor log_alpha = Array::from({1, 2, 1}, {0, std::log(real(0.75))});
  const Tensor beta = Array::from({1, 2, 1}, {0.5, 0.5});
  check_values(gated_delta_rule({q, k, v, log_alpha, beta}), {1, 2, 1}, {80, 13});
}

TEST_CASE("gated delta rule: with beta 1, a unit key finds exactly the value it was given last") {
  const Tensor k = Array::from({1, 4, 2}, {1, 0, 0, 1, real(0.6), real(0.8), 0, 1});
  const Tensor v = Array::from({1, 4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Tensor zero = Array::zeros({1, 4, 1}), one = Array::full({1, 4, 1}, 1);
  check_near(gated_delta_rule({k, k, v, zero, one}), v.value());
}

TEST_CASE("gated delta rule: equal keys, which the system for w joins most, and a long past") {
  // With beta 1, alpha 1 and one key throughout, each value replaces the one before it.
  const int64_t tokens = 300;
  const Tensor k = Array::full({1, tokens, 1}, 1), v = values({1, tokens, 1});
  const Tensor zero = Array::zeros({1, tokens, 1});
  check_near(gated_delta_rule({k, k, v, zero, k}), v.value());
  // What fades by e^-200 a token is gone after one, and nothing becomes NaN.
  const Tensor fast = Array::full({1, tokens, 1}, -200), half = Array::full({1, tokens, 1}, 0.5);
  check_near(gated_delta_rule({k, k, v, fast, half}), (v * real(0.5)).value());
}

TEST_CASE("gated delta rule: token by token with a state equals all at once") {
  const std::vector<Array> in = delta_inputs({2, 70, 2, 9, 5});
  const Array all = delta_rule({in[0], in[1], in[2], in[3], in[4]}).value();
  for (const std::vector<int64_t>& cuts :
       {std::vector<int64_t>{0, 1, 2, 3, 70}, std::vector<int64_t>{0, 40, 41, 42, 70}}) {
    Array state;
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
      const Tensor some = gated_delta_rule(delta_part(in, cuts[i], cuts[i + 1]), &state);
      check_near(some, slice(Tensor(all), 1, cuts[i], cuts[i + 1]).value());
    }
    CHECK(state.shape() == Shape{2, 2, 9, 5});
  }
}

TEST_CASE("gated delta rule: the same bits for any number of threads") {
  for (const DeltaShape& s : {DeltaShape{5, 70, 3, 8, 16}, DeltaShape{1, 100, 1, 33, 7}}) {
    check_threads(delta_rule, delta_inputs(s));
  }
}

TEST_CASE("gated delta rule: shapes that do not fit are refused") {
  const Tensor x = Array::zeros({2, 4, 6}), gate = Array::zeros({2, 4, 2});
  const Tensor none = Array::zeros({0, 4, 6}), no_gate = Array::zeros({0, 4, 2});
  CHECK(gated_delta_rule({none, none, none, no_gate, no_gate}).shape() == Shape{0, 4, 6});
  CHECK(error_of([&] {
          (void)gated_delta_rule({x, x, Array::zeros({2, 4, 3}), gate, gate});
        }) ==
        "gated_delta_rule: expected queries and keys (B, T, H d), values (B, T, H e), alpha "
        "and beta (B, T, H), got (2, 4, 6), (2, 4, 6), (2, 4, 3), (2, 4, 2) and (2, 4, 2)");
  Array state = Array::zeros({2, 2, 3, 4});
  CHECK(error_of([&] {
          (void)gated_delta_rule({x, x, x, gate, gate}, &state);
        }) == "gated_delta_rule: expected a state (2, 2, 3, 3), got (2, 2, 3, 4)");
}
