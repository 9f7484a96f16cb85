// Cases of attention: sizes, masks, dropout, and numbers for q, k and v.
#pragma once

#include <array>

#include "autograd/ops/scaled_dot_product_attention.h"
#include "tests/support/near.h"

namespace heed::testing {

inline Mask random_mask(const Shape& shape, uint64_t seed, double share) {
  std::mt19937_64 words(seed);
  std::uniform_real_distribution<double> uniform;
  Mask mask = Mask::uninitialised(shape);
  for (int64_t i = 0; i < mask.size(); ++i) {
    mask.mutable_data()[i] = uniform(words) < share;
  }
  return mask;
}

enum class MaskForm { none, keys, full, shared };

struct AttentionCase {
  int64_t b, heads, kv_heads, t, s, d, dv;
  bool causal = false;
  MaskForm mask = MaskForm::none;
  double dropout = 0;
  DropoutStream stream = DropoutStream::mcg31;
  std::optional<real> scale = std::nullopt;
  double spread = 1;  // q and k are in [-2 spread, 2 spread)
  int64_t window = 0, sinks = 0;
  real soft_cap = 0;
  bool alibi = false;
};

inline std::string describe(const AttentionCase& c) {
  return text("b ", c.b, " H ", c.heads, " Hkv ", c.kv_heads, " T ", c.t, " S ", c.s, " d ", c.d,
              " dv ", c.dv, c.causal ? " causal" : "", " mask ", static_cast<int>(c.mask),
              " dropout ", c.dropout, " window ", c.window, " sinks ", c.sinks, " cap ", c.soft_cap,
              c.alibi ? " alibi" : "");
}

inline AttentionOptions options_of(const AttentionCase& c) {
  AttentionOptions options;
  options.num_heads = c.heads;
  options.num_kv_heads = c.kv_heads;
  options.causal = c.causal;
  options.scale = c.scale;
  options.window = c.window;
  options.sinks = c.sinks;
  options.soft_cap = c.soft_cap;
  options.alibi = c.alibi;
  if (c.mask == MaskForm::keys) options.mask = random_mask({c.b, c.s}, 5, 0.7);
  if (c.mask == MaskForm::full) options.mask = random_mask({c.b, c.heads, c.t, c.s}, 6, 0.5);
  if (c.mask == MaskForm::shared) options.mask = random_mask({1, 1, c.t, c.s}, 7, 0.5);
  Generator generator(11);
  options.dropout = make_dropout_mask(generator, c.stream, c.dropout, c.b * c.heads * c.t * c.s);
  return options;
}

inline std::vector<Array> inputs_of(const AttentionCase& c) {
  const int64_t kv_heads = c.kv_heads == 0 ? c.heads : c.kv_heads;
  const double most = 2 * c.spread;
  return {values({c.b, c.t, c.heads * c.d}, -most, most, 1),
          values({c.b, c.s, kv_heads * c.d}, -most, most, 2),
          values({c.b, c.s, kv_heads * c.dv}, -2, 2, 3)};
}

using Form = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const AttentionOptions&);

inline constexpr std::array<Form, 2> both_forms = {scaled_dot_product_attention,
                                                   scaled_dot_product_attention_composed};

// The form as a function of q, k and v.
inline Function function_of(Form form, const AttentionOptions& options) {
  return
      [form, options](const std::vector<Tensor>& in) { return form(in[0], in[1], in[2], options); };
}

// y, dq, dk and dv.
inline std::vector<Array> results(Form form, const AttentionOptions& options,
                                  const std::vector<Array>& inputs) {
  return value_and_gradients(function_of(form, options), inputs);
}

// The largest |a - b| over the largest |b|, which counts as 1 at least; NaN gives infinity.
inline double distance(const Array& a, const Array& b) {
  REQUIRE(a.shape() == b.shape());
  double worst = 0, largest = 1;
  for (int64_t i = 0; i < a.size(); ++i) {
    const double want = static_cast<double>(b.data()[i]);
    const double gap = std::abs(static_cast<double>(a.data()[i]) - want);
    if (!(gap < 1e300)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, gap);
    largest = std::max(largest, std::abs(want));
  }
  return worst / largest;
}

inline bool all_zero(const Array& a, int64_t begin, int64_t end) {
  return std::all_of(a.data() + begin, a.data() + end, [](real x) { return x == 0; });
}

}  // namespace heed::testing
