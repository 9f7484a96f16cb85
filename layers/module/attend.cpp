#include "layers/module/attend.h"

#include "autograd/ops/concat.h"
#include "autograd/ops/dropout.h"
#include "autograd/ops/rotary.h"
#include "autograd/ops/slice.h"
#include "layers/module/cache.h"
#include "layers/module/masks.h"

namespace heed {

Tensor attention_weights(const Tensor& attn_scores, const Mask& mask, Normalisation normalisation) {
  const real hidden = detail::hidden_score_of(normalisation);
  return detail::weights_of(masked_scores(attn_scores, mask, hidden), normalisation);
}

void attention_weights_field(Fields& f, std::string& word) {
  f.choice("attention_weights", word, {"softmax", "sum", "none"},
           "made of attn_scores by softmax, by division by their sum, or not at all");
}

Normalisation normalisation_of(const std::string& word) {
  if (word == "softmax") return Normalisation::softmax;
  return word == "sum" ? Normalisation::sum : Normalisation::none;
}

namespace {

// Offers `value` under another shape of the same elements, the one that observers see.
Tensor offered_as(const Shape& shown, const Module& layer, Activation what, const Tensor& value) {
  if (!is_wanted(layer, what)) {
    return value;
  }
  const Tensor as_shown = reshape(value, shown);
  const Tensor given = offered(layer, what, as_shown);
  return given.value().data() == as_shown.value().data() ? value : reshape(given, value.shape());
}

// Offers context_vec (B, T, H d) as z (B, T, H, d).
Tensor offered_heads(const Module& layer, const Tensor& context_vec, int64_t heads) {
  const Shape& shape = context_vec.shape();
  return offered_as({shape[0], shape[1], heads, shape[2] / heads}, layer, Activation::heads,
                    context_vec);
}

}  // namespace

Tensor mix_values(const Module& layer, const Tensor& attn_weights, const Tensor& values,
                  double dropout) {
  const Tensor weights = offered_as(attn_weights.shape().inserted(1, 1), layer,
                                    Activation::attn_weights, attn_weights);
  const Tensor kept = heed::dropout(weights, dropout, layer.training());
  return offered_heads(layer, matmul(kept, values), 1);
}

namespace {

// What attend() keeps of a sequence in a cache.
struct KeysAndValues {
  // (1, capacity, d), the first rows are in use; with a window (1, sinks + window, d) or less
  Array keys, values;
};

// The first `sinks` and the last `rest` rows of x (1, n, d); x if it has no more.
Array ends_of(const Array& x, int64_t sinks, int64_t rest) {
  const int64_t n = x.dim(1), d = x.dim(2);
  if (n <= sinks + rest) return x;
  Array ends = Array::uninitialised({1, sinks + rest, d});
  std::copy_n(x.data(), sinks * d, ends.mutable_data());
  std::copy_n(x.data() + (n - rest) * d, rest * d, ends.mutable_data() + sinks * d);
  return ends;
}

// The rows that a window leaves to the tokens of `added` (1, t, d), and these. Keeps what it leaves
// to the next token.
Array appended_in_window(Array& rows, const Array& added, const AttentionOptions& options) {
  Array all = added;
  if (rows) all = concat({ends_of(rows, options.sinks, options.window - 1), added}, 1).value();
  rows = ends_of(all, options.sinks, options.window);
  return all;
}

// attend() to the cached keys and values of earlier tokens as well.
Tensor attend_cached(const Module& layer, Input in, const Tensor& queries, const Tensor& keys,
                     const Tensor& values, AttentionOptions options) {
  const int64_t past = in.past();
  require(options.causal && (past == 0 || queries.dim(1) == 1),
          "attention with a cache: expected a causal layer and, after the first tokens, one at a "
          "time, got queries ",
          queries.shape(), " after ", past, options.causal ? "" : ", not causal");
  Cache& cache = *std::exchange(in.cache, nullptr);
  const int64_t batch = keys.dim(0);
  require(batch == 1 || !in.mask, "attention with a cache: expected no mask for ", batch,
          " sequences");
  const bool windowed = options.forgets() && !in.mask;
  require(windowed || past + keys.dim(1) <= cache.capacity(),
          "attention with a cache: expected at most ", cache.capacity(), " tokens, got ", past,
          " and ", keys.dim(1), " more");
  auto& state = cache.state_of<std::vector<KeysAndValues>>(layer);
  state.resize(static_cast<size_t>(batch));
  const auto part = [&](const Tensor& of, int64_t b) {
    return batch == 1 ? of : slice(of, 0, b, b + 1);
  };
  const auto appended = [&](Array& rows, const Tensor& added) {
    return Tensor(windowed ? appended_in_window(rows, added.value(), options)
                           : cache.append(rows, added.value()));
  };
  std::vector<Tensor> context_vecs;
  for (int64_t b = 0; b < batch; ++b) {
    KeysAndValues& seen = state[static_cast<size_t>(b)];
    const Tensor all_keys = appended(seen.keys, part(keys, b));
    const Tensor all_values = appended(seen.values, part(values, b));
    context_vecs.push_back(
        attend(layer, in, part(queries, b), all_keys, all_values, /*dropout=*/0, options));
  }
  return batch == 1 ? context_vecs[0] : concat(context_vecs, 0);
}

// Completes the options with the mask of `in` and with a dropout mask for `weights` attention
// weights while the layer is training. Then returns call(options).
//
// Observers are served here and nowhere else. The fused kernel runs in any case and, if an observer
// wants the weights, writes them too, which changes no bit of its result. Only if the observer
// replaces them, the values, given by values(), are mixed once more, with its weights.
template <class Call, class Values>
Tensor attend_as(const Module& layer, const Input& in, int64_t weights, double dropout,
                 AttentionOptions options, Call&& call, Values&& values) {
  options.mask = in.mask;
  options.dropout = make_dropout_mask(streams().dropout(), streams().dropout_stream(), dropout,
                                      weights, layer.training());
  if (!is_wanted(layer, Activation::attn_weights)) {
    return offered_heads(layer, call(options), options.num_heads);
  }
  Array computed;  // (B, H, T, S)
  options.weights_out = &computed;
  Tensor context_vec = call(options);
  const Tensor given = offered(layer, Activation::attn_weights, Tensor(computed));
  if (given.value().data() != computed.data()) {
    const Tensor kept = options.dropout.is_identity()
                            ? given
                            : given * detail::dropout_factors(options.dropout, given.shape());
    context_vec = detail::mix_values(kept, values(), options.kv_heads());
  }
  return offered_heads(layer, context_vec, options.num_heads);
}

}  // namespace

Tensor attend(const Module& layer, const Input& in, const Tensor& queries, const Tensor& keys,
              const Tensor& values, double dropout, AttentionOptions options) {
  if (in.cache != nullptr) {
    return attend_cached(layer, in, queries, keys, values, options);
  }
  const int64_t weights = queries.dim(0) * options.num_heads * queries.dim(1) * keys.dim(1);
  const Tensor finite = finite_tokens(values, in.mask);
  return attend_as(
      layer, in, weights, dropout, options,
      [&](const AttentionOptions& all) {
        return scaled_dot_product_attention(queries, keys, finite, all);
      },
      [&] { return finite; });
}

Tensor attend(const Module& layer, const Input& in, const Tensor& given, double dropout,
              AttentionOptions options) {
  require(in.cache == nullptr, "attend: expected queries, keys and values apart with a cache, got ",
          given.shape());
  const Tensor qkv = finite_tokens(given, in.mask);
  const int64_t weights = qkv.dim(0) * options.num_heads * qkv.dim(1) * qkv.dim(1);
  return attend_as(
      layer, in, weights, dropout, options,
      [&](const AttentionOptions& all) { return scaled_dot_product_attention(qkv, all); },
      [&] {
        const int64_t kv_heads = options.kv_heads();
        const int64_t width = qkv.dim(2) / (options.num_heads + 2 * kv_heads);
        return slice(qkv, 2, qkv.dim(2) - kv_heads * width, qkv.dim(2));
      });
}

Tensor rotated(const Tensor& x, const Array& angles, const Input& in,
               std::optional<int64_t> head_width) {
  return angles ? rotary(x, angles, in.past(), head_width) : x;
}

}  // namespace heed
