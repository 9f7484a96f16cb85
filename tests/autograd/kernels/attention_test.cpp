#include "autograd/kernels/attention.h"

#include "tests/support/attention_cases.h"

using namespace heed;
using namespace heed::testing;

using Case = AttentionCase;

TEST_CASE("attention: the future leaves no bit of the past") {
  int64_t compared = 0;
  for (const int64_t n : {5, 64, 200, 600}) {
    const int64_t width = n < 600 ? 8 : 64;  // narrow heads, and wide ones
    const Case c{1, 2, 1, n, n, width, width, true, MaskForm::none, 0.2};
    const std::vector<Array> before = inputs_of(c);
    for (const int64_t past : {int64_t{1}, n / 2, n - 1}) {
      std::vector<Array> after;
      for (const Array& x : before) {
        Array changed = x.clone();
        const int64_t row = x.dim(2);
        for (int64_t i = past * row; i < n * row; ++i) changed.mutable_data()[i] *= -3;
        after.push_back(changed);
      }
      for (const Form form : both_forms) {
        const auto value = [&](const std::vector<Array>& in) {
          const Array y = form(in[0], in[1], in[2], options_of(c)).value();
          return std::vector<real>(y.data(), y.data() + past * 2 * width);
        };
        const std::vector<real> a = value(before), b = value(after);
        CHECK(std::memcmp(a.data(), b.data(), a.size() * sizeof(real)) == 0);
        compared += static_cast<int64_t>(a.size());
      }
    }
  }
  CHECK(compared > 10000);
}

TEST_CASE("attention: the same bits for any number of threads, windows and bent scores too") {
  std::vector<Case> cases{{1, 1, 0, 1100, 1100, 8, 8, true, MaskForm::none, 0.1},
                          {1, 3, 1, 600, 700, 16, 5, true, MaskForm::keys},
                          {4, 4, 2, 130, 130, 33, 33, false, MaskForm::full, 0.5},
                          {1, 2, 1, 530, 600, 64, 96, true, MaskForm::keys, 0.1}};
  for (Case c : {Case{1, 1, 0, 700, 700, 8, 8, true, MaskForm::none, 0.1},
                 Case{1, 2, 1, 530, 600, 64, 96, true, MaskForm::keys, 0.1},
                 Case{2, 3, 0, 200, 200, 33, 7, true}}) {
    c.window = 100;
    c.sinks = c.b == 1 ? 3 : 0;
    c.soft_cap = 5;
    c.alibi = c.heads > 1;
    cases.push_back(c);
  }
  for (const Case& c : cases) {
    check_threads(function_of(scaled_dot_product_attention, options_of(c)), inputs_of(c));
  }
}

TEST_CASE("attention: memory grows with T, not with its square") {
  std::vector<double> peaks;
  for (const int64_t n : {1024, 2048, 4096}) {
    const Case c{1, 2, 0, n, n, 16, 16, true, MaskForm::none, 0.1};
    const AttentionOptions options = options_of(c);
    const std::vector<Array> inputs = inputs_of(c);
    pool::trim();  // a free block that is reused may be larger than what is needed
    const int64_t before = pool::stats().live_bytes;
    pool::reset_peak();
    const std::vector<Array> r = results(scaled_dot_product_attention, options, inputs);
    CHECK(r.size() == 4);
    peaks.push_back(static_cast<double>(pool::stats().peak_bytes - before));
  }
  CHECK(peaks[0] > 0);
  CHECK(peaks[1] < 2.3 * peaks[0]);
  CHECK(peaks[2] < 2.3 * peaks[1]);
  CHECK(peaks[2] < 4096.0 * 4096.0 * sizeof(real) / 2);
}

TEST_CASE("attention: gradients are added to what is there, or left out") {
  const Case c{1, 2, 0, 40, 40, 8, 8, true};
  const std::vector<Array> x = inputs_of(c);
  const std::vector<Array> once = results(scaled_dot_product_attention, options_of(c), x);
  std::vector<Tensor> leaves;
  for (const Array& a : x) leaves.push_back(wanted(a));
  for (int pass = 0; pass < 2; ++pass) {
    const Tensor y = scaled_dot_product_attention(leaves[0], leaves[1], leaves[2], options_of(c));
    y.backward(values(y.shape(), 0.5, 1.5, 7));
  }
  for (size_t i = 0; i < 3; ++i) {
    Array twice = once[i + 1].clone();
    for (int64_t j = 0; j < twice.size(); ++j) twice.mutable_data()[j] *= 2;
    check_same_bits(leaves[i].grad(), twice);
    // The same input alone wants a gradient.
    std::vector<Tensor> alone = {x[0], x[1], x[2]};
    alone[i] = wanted(x[i]);
    const Tensor y = scaled_dot_product_attention(alone[0], alone[1], alone[2], options_of(c));
    y.backward(values(y.shape(), 0.5, 1.5, 7));
    check_same_bits(alone[i].grad(), once[i + 1]);
  }
}

TEST_CASE("attention: one tensor as q, k and v, over several strips") {
  AttentionOptions options;
  options.causal = true;
  const std::vector<Array> x = {values({1, 700, 6})};
  const auto form = [&](Form f) {
    return [f, options](const std::vector<Tensor>& in) { return f(in[0], in[0], in[0], options); };
  };
  check_twins(form(both_forms[0]), form(both_forms[1]), x, is_float64 ? 1e-12 : 1e-4);
}

TEST_CASE("attention: wide heads over several blocks, as the composed form") {
  for (const Case& c : {Case{1, 2, 1, 300, 300, 64, 64, true},
                        Case{2, 2, 0, 257, 530, 32, 96, true, MaskForm::keys, 0.3},
                        Case{1, 3, 0, 290, 259, 64, 64, true, MaskForm::none, 0.1},
                        Case{1, 2, 0, 140, 150, 96, 64, false, MaskForm::full},
                        Case{1, 1, 0, 1100, 1100, 64, 64, true, MaskForm::none, 0.2}}) {
    CAPTURE(describe(c));
    check_twins(function_of(both_forms[0], options_of(c)),
                function_of(both_forms[1], options_of(c)), inputs_of(c), is_float64 ? 1e-11 : 2e-4);
  }
}

TEST_CASE("attention: a number that is none reaches those who look at it, wide heads too") {
  for (const int64_t width : {8, 64}) {
    const int64_t n = 200, sick = 150;
    const Case c{1, 1, 1, n, n, width, width, true};
    std::vector<Array> x = inputs_of(c);
    x[1].mutable_data()[sick * width + 3] = -inf;
    const Array y = scaled_dot_product_attention(x[0], x[1], x[2], options_of(c)).value();
    const Array twin =
        scaled_dot_product_attention_composed(x[0], x[1], x[2], options_of(c)).value();
    int64_t finite = 0;
    for (int64_t i = 0; i < y.size(); ++i) {
      CHECK(std::isfinite(y.data()[i]) == std::isfinite(twin.data()[i]));
      finite += std::isfinite(y.data()[i]);
    }
    CHECK(finite >= sick * width);
    CHECK(finite < n * width);
  }
}

TEST_CASE("attention: the switch, the count of flops") {
  const Case c{1, 2, 0, 10, 10, 4, 4, true};
  const std::vector<Array> x = inputs_of(c);
  set_fused(false);
  check_same_bits(results(scaled_dot_product_attention, options_of(c), x)[0],
                  results(scaled_dot_product_attention_composed, options_of(c), x)[0]);
  set_fused(true);
  const int64_t before = flop_count();
  results(scaled_dot_product_attention, options_of(c), x);
  CHECK(flop_count() - before == 6 * 2 * 2 * 55 * 4);  // products, 2, heads, pairs, width
}

TEST_CASE("attention: a NaN of any bits in a key reaches all who look at it") {
  const int64_t n = 200, sick = 150;
  for (const int64_t width : {8, 64}) {
    for (const double dropped : {0.0, 0.5}) {
      const Case c{1, 1, 1, n, n, width, width, true, MaskForm::none, dropped};
      for (const real nan : nans_with_payloads()) {
        std::vector<Array> x = inputs_of(c);
        x[1].mutable_data()[sick * width + 3] = nan;
        const std::vector<Array> all = results(scaled_dot_product_attention, options_of(c), x);
        for (int64_t i = 0; i < n * width; ++i) {
          REQUIRE(std::isnan(all[0].data()[i]) == (i / width >= sick));
        }
        CHECK(std::isnan(all[3].data()[0]));  // dv of the first key, which all queries see
      }
    }
  }
}

TEST_CASE("attention: a negative scale and a scale of 0, wide heads too") {
  for (const int64_t width : {8, 32, 96}) {
    Case c{1, 2, 1, 300, 300, width, width, true, MaskForm::none, 0.1};
    for (const double scale : {-0.2, 0.0}) {
      c.scale = static_cast<real>(scale);
      check_twins(function_of(both_forms[0], options_of(c)),
                  function_of(both_forms[1], options_of(c)), inputs_of(c),
                  is_float64 ? 1e-11 : 2e-4);
    }
  }
}

// One cotangent is far larger than the others, as with weights of a loss. The last keys are seen by
// late queries alone, whose cotangents are small.
TEST_CASE("attention: rows of dy of very different size") {
  const int64_t n = 300, width = 64;
  const Case c{1, 1, 1, n, n, width, width, true};
  const auto of_form = [&](Form form) -> Function {
    return [form, options = options_of(c)](const std::vector<Tensor>& in) {
      const Tensor y = form(in[0], in[1], in[2], options);
      Array size = Array::full({1, n, 1}, std::ldexp(real{1}, -28));
      size.mutable_data()[0] = 1;
      return y * Tensor(size);
    };
  };
  const std::vector<Array> tiles = value_and_gradients(of_form(both_forms[0]), inputs_of(c));
  const std::vector<Array> composed = value_and_gradients(of_form(both_forms[1]), inputs_of(c));
  double error = 0, largest = 0;
  for (int64_t i = (n - 40) * width; i < n * width; ++i) {  // dv of the last keys
    const double want = static_cast<double>(composed[3].data()[i]);
    error = std::max(error, std::abs(static_cast<double>(tiles[3].data()[i]) - want));
    largest = std::max(largest, std::abs(want));
  }
  CHECK(largest > 0);
  CHECK(error <= (is_float64 ? 1e-12 : 2e-5) * largest);
}
