#include "layers/module/attend.h"

#include "autograd/ops/rotary.h"
#include "autograd/ops/softmax.h"
#include "layers/module/cache.h"
#include "layers/module/masks.h"

namespace heed {

Tensor attention_weights(const Tensor& attn_scores, const Mask& mask) {
  return softmax(masked_scores(attn_scores, mask, -std::numeric_limits<real>::infinity()));
}

void record_attention(const Module& layer, const Tensor& attn_weights) {
  if (AttentionRecorder* recorder = AttentionRecorder::current()) {
    const Shape with_head = attn_weights.shape().inserted(1, 1);
    recorder->recorded.push_back({layer.path(), attn_weights.value().reshaped(with_head)});
  }
}

namespace {

// What attend() keeps in a cache, for a batch of one.
struct KeysAndValues {
  Array keys, values;  // (1, capacity, d); the first rows are in use
};

// Writes the rows of `added` (1, t, d) behind those of earlier tokens and returns the rows of all
// tokens so far, (1, length + t, d). Throws ShapeError beyond the capacity.
Array append(Array& rows, const Array& added, const Cache& cache) {
  const int64_t tokens = added.dim(1), width = added.dim(2);
  if (!rows) {
    rows = Array::uninitialised({1, cache.capacity(), width});
  }
  std::copy_n(added.data(), tokens * width, rows.mutable_data() + cache.length() * width);
  return rows.prefix({1, cache.length() + tokens, width});
}

// attend() to the cached keys and values of earlier tokens as well.
Tensor attend_cached(const Module& layer, Input in, const Tensor& queries, const Tensor& keys,
                     const Tensor& values, AttentionOptions options) {
  const int64_t past = in.past();
  require(options.causal && (past == 0 || queries.dim(1) == 1),
          "attention with a cache: expected a causal layer and, after the first tokens, one at a "
          "time, got queries ",
          queries.shape(), " after ", past, options.causal ? "" : ", not causal");
  require(keys.dim(0) == 1 && values.dim(0) == 1,
          "attention with a cache: expected keys and values (1, t, d), got ", keys.shape(), " and ",
          values.shape());
  Cache& cache = *std::exchange(in.cache, nullptr);
  require(past + keys.dim(1) <= cache.capacity(), "attention with a cache: expected at most ",
          cache.capacity(), " tokens, got ", past, " and ", keys.dim(1), " more");
  auto& state = cache.state_of<KeysAndValues>(layer);
  const Tensor all_keys(append(state.keys, keys.value(), cache));
  const Tensor all_values(append(state.values, values.value(), cache));
  options.causal = past == 0;  // a single query, the last token, may attend to all keys
  return attend(layer, in, queries, all_keys, all_values, /*dropout=*/0, options);
}

// Completes the options with the mask of `in`, a dropout mask for `weights` attention weights while
// the layer is training, and an output for the weights if they are being recorded. Then returns
// call(options).
template <class Call>
Tensor attend_as(const Module& layer, const Input& in, int64_t weights, double dropout,
                 AttentionOptions options, Call&& call) {
  options.mask = in.mask;
  options.dropout = make_dropout_mask(streams().dropout(), streams().dropout_stream(), dropout,
                                      weights, layer.training());
  AttentionRecorder* recorder = AttentionRecorder::current();
  Array attn_weights;
  options.weights_out = recorder != nullptr ? &attn_weights : nullptr;
  Tensor context_vec = call(options);
  if (recorder != nullptr) {
    recorder->recorded.push_back({layer.path(), std::move(attn_weights)});
  }
  return context_vec;
}

}  // namespace

Tensor attend(const Module& layer, const Input& in, const Tensor& queries, const Tensor& keys,
              const Tensor& values, double dropout, AttentionOptions options) {
  if (in.cache != nullptr) {
    return attend_cached(layer, in, queries, keys, values, options);
  }
  const int64_t weights = queries.dim(0) * options.num_heads * queries.dim(1) * keys.dim(1);
  return attend_as(layer, in, weights, dropout, options, [&](const AttentionOptions& all) {
    return scaled_dot_product_attention(queries, keys, values, all);
  });
}

Tensor attend(const Module& layer, const Input& in, const Tensor& qkv, double dropout,
              AttentionOptions options) {
  require(in.cache == nullptr, "attend: expected queries, keys and values apart with a cache, got ",
          qkv.shape());
  const int64_t weights = qkv.dim(0) * options.num_heads * qkv.dim(1) * qkv.dim(1);
  return attend_as(layer, in, weights, dropout, options, [&](const AttentionOptions& all) {
    return scaled_dot_product_attention(qkv, all);
  });
}

Tensor rotated(const Tensor& x, const Array& angles, const Input& in) {
  return angles ? rotary(x, angles, in.past()) : x;
}

}  // namespace heed
