#include "autograd/ops/scaled_dot_product_attention.h"

#include "autograd/ops/exp.h"
#include "tests/support/attention_cases.h"
#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

namespace {

using Case = AttentionCase;

void check_against_composed(const Case& c) {
  CAPTURE(describe(c));
  const double tolerance = (is_float64 ? 1e-13 : 2e-5) * std::max(1.0, c.spread * c.spread);
  std::array<std::vector<Array>, 2> found;
  for (size_t form = 0; form < 2; ++form) {
    AttentionOptions options = options_of(c);
    Array weights;
    options.weights_out = &weights;
    found[form] = results(both_forms[form], options, inputs_of(c));
    found[form].push_back(weights);
  }
  REQUIRE(found[0][0].shape() == Shape{c.b, c.t, c.heads * c.dv});
  REQUIRE(found[0][4].shape() == Shape{c.b, c.heads, c.t, c.s});
  for (size_t i = 0; i < 5; ++i) {
    CAPTURE(i);
    CHECK(distance(found[0][i], found[1][i]) <= tolerance);
  }
}

}  // namespace

TEST_CASE("scaled_dot_product_attention: two queries by hand") {
  // Scores 0 and ln 3 give weights 1/4 and 3/4; the first query sees the first key only.
  const real e = static_cast<real>(std::log(3.0));
  AttentionOptions options;
  options.causal = true;
  options.scale = 1;
  const Tensor q(Array::from({1, 2, 1}, {real{1}, real{1}}));
  const Tensor k(Array::from({1, 2, 1}, {real{0}, e}));
  const Tensor v(Array::from({1, 2, 2}, {real{4}, real{8}, real{0}, real{-4}}));
  Array weights;
  options.weights_out = &weights;
  const Array y = scaled_dot_product_attention(q, k, v, options).value();
  const double expected[] = {4, 8, 1, -1}, expected_weights[] = {1, 0, 0.25, 0.75};
  REQUIRE(weights.shape() == Shape{1, 1, 2, 2});
  for (int i = 0; i < 4; ++i) {
    CHECK(static_cast<double>(y.data()[i]) == doctest::Approx(expected[i]).epsilon(1e-5));
    CHECK(static_cast<double>(weights.data()[i]) ==
          doctest::Approx(expected_weights[i]).epsilon(1e-5));
  }
}

TEST_CASE("scaled_dot_product_attention: as composed, lengths around the block sizes") {
  for (const int64_t n : {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 300}) {
    check_against_composed({1, 2, 0, n, n, 16, 16, true});
    check_against_composed({2, 1, 0, n, n, 5, 5, false});
  }
}

TEST_CASE("scaled_dot_product_attention: as composed, T and S apart") {
  for (const int64_t t : {1, 3, 33, 65, 129}) {
    for (const int64_t s : {1, 4, 32, 64, 129, 257}) {
      for (const bool causal : {false, true}) {
        check_against_composed({1, 2, 0, t, s, 8, 8, causal});
      }
    }
  }
}

TEST_CASE("scaled_dot_product_attention: as composed, head widths") {
  for (const int64_t d : {1, 2, 3, 7, 8, 9, 15, 16, 17, 24, 31, 33, 48, 63, 64, 65, 80}) {
    check_against_composed({1, 3, 0, 37, 37, d, d, true});
    check_against_composed({2, 2, 0, 19, 70, d, 81 - d, false});
  }
}

TEST_CASE("scaled_dot_product_attention: as composed, grouped queries") {
  for (const int64_t kv_heads : {1, 2, 3, 6}) {
    check_against_composed({2, 6, kv_heads, 40, 40, 8, 12, true});
    check_against_composed({1, 6, kv_heads, 70, 150, 20, 4, true, MaskForm::full, 0.3});
  }
}

TEST_CASE("scaled_dot_product_attention: as composed, masks") {
  for (const MaskForm mask : {MaskForm::keys, MaskForm::full, MaskForm::shared}) {
    for (const bool causal : {false, true}) {
      check_against_composed({2, 3, 0, 66, 66, 8, 8, causal, mask});
      check_against_composed({3, 2, 1, 5, 131, 17, 9, causal, mask});
      check_against_composed({2, 2, 0, 140, 30, 4, 4, causal, mask, 0.5});
    }
  }
}

TEST_CASE("scaled_dot_product_attention: as composed, dropout of both streams") {
  for (const DropoutStream stream : {DropoutStream::mcg31, DropoutStream::mt19937}) {
    for (const double p : {0.1, 0.5, 0.9, 1.0}) {
      check_against_composed({2, 2, 0, 33, 33, 8, 8, true, MaskForm::none, p, stream});
      check_against_composed({1, 3, 0, 65, 140, 16, 5, false, MaskForm::keys, p, stream});
    }
  }
}

TEST_CASE("scaled_dot_product_attention: as composed, several strips of few heads") {
  check_against_composed({1, 1, 0, 700, 700, 8, 8, true, MaskForm::none, 0.1});
  check_against_composed({1, 2, 1, 520, 900, 4, 6, true});
  check_against_composed({1, 1, 0, 900, 520, 4, 6, true, MaskForm::keys});
}

TEST_CASE("scaled_dot_product_attention: as composed, windows and sinks") {
  for (const int64_t n : {3, 66, 130}) {
    for (const int64_t window : {int64_t{1}, n / 3, n - 1, n + 5}) {
      for (const int64_t sinks : {0, 3}) {
        Case c{1, 2, 1, n, n, 16, 8, true};
        c.window = window;
        c.sinks = sinks;
        check_against_composed(c);
        c.mask = MaskForm::full;
        c.dropout = 0.3;
        check_against_composed(c);
        c.s = n + 70;
        check_against_composed(c);
        c.s = std::max<int64_t>(1, n - 20);
        check_against_composed(c);
      }
    }
  }
  for (const int64_t window : {64, 300}) {  // several strips, heads of whole vectors
    for (const int64_t sinks : {0, 270}) {
      Case c{1, 1, 0, 600, 600, 32, 32, true, MaskForm::none, 0.1};
      c.window = window;
      c.sinks = sinks;
      check_against_composed(c);
    }
  }
}

TEST_CASE("scaled_dot_product_attention: as composed, soft caps and alibi") {
  for (const bool causal : {false, true}) {
    for (const real cap : {real{0}, real(0.5), real{4}}) {
      for (const int64_t n : {5, 65, 200}) {
        Case c{2, 3, 0, n, n + 7, 12, 5, causal, MaskForm::keys, n == 65 ? 0.2 : 0};
        c.soft_cap = cap;
        c.alibi = causal;
        c.window = causal && n > 5 ? 40 : 0;
        check_against_composed(c);
      }
    }
  }
  Case wide{1, 2, 0, 300, 300, 64, 64, true};
  wide.soft_cap = 3;
  wide.alibi = true;
  check_against_composed(wide);
}

TEST_CASE("alibi: slopes of the paper") {
  std::string slopes;
  for (int64_t h = 0; h < 8; ++h) slopes += text(alibi_slope(h, 8), " ");
  CHECK(slopes == "0.5 0.25 0.125 0.0625 0.03125 0.015625 0.0078125 0.00390625 ");
  CHECK(alibi_slope(0, 16) == std::sqrt(0.5));
  // 6 heads: 4 of a fall by 1/4, then the first and the third of 8.
  slopes = "";
  for (int64_t h = 0; h < 6; ++h) slopes += text(alibi_slope(h, 6), " ");
  CHECK(slopes == "0.25 0.0625 0.015625 0.00390625 0.5 0.125 ");
  CHECK(alibi_slope(0, 1) == std::exp2(-8));
}

TEST_CASE("scaled_dot_product_attention: a window leaves out what it hides, NaN or not") {
  const int64_t t = 300, d = 8;
  AttentionOptions options;
  options.causal = true;
  options.window = 50;
  const Array q = values({1, t, d}), v = values({1, t, d});
  Array k = values({1, t, d}, -1, 1);
  const std::vector<Array> clean = results(both_forms[0], options, {q, k, v});
  k.mutable_data()[10 * d] = not_a_number;
  const std::vector<Array> r = results(both_forms[0], options, {q, k, v});
  const int64_t seen = 60 * d;  // query 59 is the last one that sees key 10
  CHECK(std::isnan(r[0].data()[59 * d]));
  CHECK(std::memcmp(r[0].data() + 128 * d, clean[0].data() + 128 * d,
                    sizeof(real) * static_cast<size_t>((t - 128) * d)) == 0);
  CHECK_FALSE(std::isnan(r[0].data()[seen]));
}

TEST_CASE("scaled_dot_product_attention: as composed, other scales and large scores") {
  check_against_composed({1, 2, 0, 20, 20, 8, 8, true, MaskForm::none, 0, {}, real{0.25}});
  check_against_composed({1, 2, 0, 20, 20, 8, 8, false, MaskForm::none, 0, {}, real{-2}});
  check_against_composed({1, 2, 0, 150, 150, 8, 8, true, MaskForm::none, 0, {}, 0, 10});
}

const GradCases sdpa_cases("scaled_dot_product_attention", [](GradCaseList& list) {
  const std::vector<Case> sizes = {
      {1, 1, 0, 1, 1, 1, 1}, {1, 1, 0, 3, 3, 2, 2}, {2, 2, 0, 4, 4, 3, 3},   {1, 2, 0, 7, 5, 4, 3},
      {2, 4, 2, 5, 6, 3, 2}, {1, 4, 1, 3, 9, 2, 5}, {1, 1, 0, 17, 17, 3, 3}, {1, 2, 1, 9, 35, 5, 4},
  };
  for (Case c : sizes) {
    for (const bool causal : {false, true}) {
      for (const MaskForm mask : {MaskForm::none, MaskForm::keys, MaskForm::full}) {
        for (const double dropout : {0.0, 0.4}) {
          c.causal = causal;
          c.mask = mask;
          c.dropout = dropout;
          c.stream = causal ? DropoutStream::mcg31 : DropoutStream::mt19937;
          std::vector<Tensor> inputs;
          for (const Array& x : inputs_of(c)) inputs.push_back(wanted(x));
          list.add(describe(c), function_of(scaled_dot_product_attention, options_of(c)), inputs);
        }
      }
    }
  }
  for (Case c : sizes) {
    c.causal = true;
    c.window = 2;
    c.sinks = c.s > 5 ? 1 : 0;
    c.soft_cap = 2;
    c.alibi = true;
    std::vector<Tensor> inputs;
    for (const Array& x : inputs_of(c)) inputs.push_back(wanted(x));
    list.add(describe(c), function_of(scaled_dot_product_attention, options_of(c)), inputs);
    for (const Normalisation kind : {Normalisation::sum, Normalisation::none}) {
      // A single number divided by itself is 1: what differences find there is rounding.
      if (kind == Normalisation::sum && c.s == 1) continue;
      AttentionOptions options = options_of(c);
      options.normalisation = kind;
      std::vector<Tensor> positive;  // no sum near 0
      for (const Array& x : inputs_of(c)) positive.push_back(wanted(values(x.shape(), 0.5, 1.5)));
      list.add(text(describe(c), " weights ", static_cast<int>(kind)),
               function_of(scaled_dot_product_attention, options), positive);
    }
  }
  const Case packed{2, 4, 2, 6, 6, 3, 3, true};
  list.add("packed",
           [o = options_of(packed)](In in) { return scaled_dot_product_attention(in[0], o); },
           {wanted(values({2, 6, (4 + 2 + 2) * 3}))});
  list.add("one tensor as q, k and v",
           [o = options_of(packed)](In in) {
             AttentionOptions options = o;
             options.num_kv_heads = 0;
             return scaled_dot_product_attention(in[0], in[0], in[0], options);
           },
           {wanted(values({2, 6, 12}))});
  list.add("one tensor as k and v, which came from another",
           [o = options_of(packed)](In in) {
             const Tensor kv = exp(in[1]);
             return scaled_dot_product_attention(in[0], kv, kv, o);
           },
           {wanted(values({2, 6, 12})), wanted(values({2, 6, 6}))});
});

TEST_CASE("scaled_dot_product_attention: gradient") {
  CHECK(check_grad_cases("scaled_dot_product_attention") >= 30);
}

TEST_CASE("scaled_dot_product_attention: packed columns are q, k and v side by side") {
  for (const int64_t kv_heads : {1, 2, 4}) {
    const Case c{2, 4, kv_heads, 70, 70, 12, 12, true, MaskForm::keys, 0.2};
    const AttentionOptions options = options_of(c);
    const int64_t columns = 4 * 12, kv = kv_heads * 12;
    const auto packed = [&](In in) { return scaled_dot_product_attention(in[0], options); };
    const auto apart = [&](In in) {
      return scaled_dot_product_attention(slice(in[0], 2, 0, columns),
                                          slice(in[0], 2, columns, columns + kv),
                                          slice(in[0], 2, columns + kv, columns + 2 * kv), options);
    };
    check_twins(packed, apart, {values({2, 70, columns + 2 * kv})}, 1e-12);
    set_fused(false);
    check_twins(packed, apart, {values({2, 70, columns + 2 * kv})}, 1e-12);
    set_fused(true);
  }
}

TEST_CASE("scaled_dot_product_attention: refusals") {
  const auto message = [](const Shape& q, const Shape& k, const Shape& v, AttentionOptions o) {
    try {
      (void)scaled_dot_product_attention(Array::zeros(q), Array::zeros(k), Array::zeros(v), o);
    } catch (const ShapeError& e) {
      return std::string(e.what());
    }
    return std::string("none");
  };
  AttentionOptions two;
  two.num_heads = 2;
  const std::string name = "scaled_dot_product_attention: expected ";
  CHECK(
      message({2, 3, 4}, {1, 3, 4}, {2, 3, 4}, two) ==
      name +
          "q (B, T, H d), k (B, S, Hkv d), v (B, S, Hkv dv), got (2, 3, 4), (1, 3, 4), (2, 3, 4)");
  CHECK(message({3, 4}, {3, 4}, {3, 4}, two).find("got (3, 4)") != std::string::npos);
  CHECK(message({1, 3, 5}, {1, 3, 4}, {1, 3, 4}, two) ==
        name + "the last axis of q to be a positive multiple of its 2 heads, got 5");
  CHECK(message({1, 3, 4}, {1, 3, 6}, {1, 3, 4}, two) ==
        name + "heads of k as wide as those of q, got (1, 3, 4) in 2 heads and (1, 3, 6) in 2");
  AttentionOptions three = two;
  three.num_kv_heads = 3;
  CHECK(message({1, 3, 4}, {1, 3, 6}, {1, 3, 6}, three) ==
        name + "num_heads to be a multiple of num_kv_heads, got 2 and 3");
  AttentionOptions masked = two;
  masked.mask = Mask::full({1, 2}, 1);
  CHECK(message({1, 3, 4}, {1, 3, 4}, {1, 3, 4}, masked) ==
        name + "a mask (B, S) = (1, 3), got (1, 2)");
  AttentionOptions windowed = two;
  windowed.window = 2;
  CHECK(message({1, 3, 4}, {1, 3, 4}, {1, 3, 4}, windowed) ==
        name + "causal with a window or alibi");
  masked.mask = Mask::full({1, 3, 3}, 1);
  CHECK(
      message({1, 3, 4}, {1, 3, 4}, {1, 3, 4}, masked) ==
      name +
          "a mask (B, S) or (B or 1, H or 1, T, S) with B, H, T, S = (1, 2, 3, 3), got (1, 3, 3)");
}
