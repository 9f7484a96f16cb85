// What attention layers share: softmax with a mask, dropout, the cache, and what observers see.
#pragma once

#include "autograd/ops/scaled_dot_product_attention.h"
#include "layers/module/module.h"
#include "layers/module/registry.h"

namespace heed {

// attn_scores (B, T, S) -> attn_weights (B, T, S): softmax over the keys that the mask allows, or
// another normalisation; a row in which it allows none is 0. mask: (B, S), (B, 1, T, S),
// (1, 1, T, S) or none. Throws ShapeError for another mask.
Tensor attention_weights(const Tensor& attn_scores, const Mask& mask,
                         Normalisation normalisation = Normalisation::softmax);

// The field `attention_weights` of layers, and what its word chooses.
void attention_weights_field(Fields& f, std::string& word);
Normalisation normalisation_of(const std::string& word);

// The end of attention, for layers that compute their own weights and one head at a time.
//   attn_weights (B, T, S), values (B, S, d) -> context_vec (B, T, d)
//   context_vec = dropout(attn_weights) values, with dropout while training only
// Offers the weights and context_vec, as one head, to the current ForwardObserver, if any.
Tensor mix_values(const Module& layer, const Tensor& attn_weights, const Tensor& values,
                  double dropout = 0);

// Runs scaled_dot_product_attention for a layer.
//   queries (B, T, H d), keys and values (B, S, Hkv d) -> context_vec (B, T, H d)
// Applies the mask of `in` and, while training, dropout to the weights; offers the weights and the
// heads to the current ForwardObserver, if any. With a cache in `in`, queries also attend to the
// keys and values of earlier tokens, without dropout. This requires options.causal and, after the
// first call, one new token per call. Throws ShapeError.
Tensor attend(const Module& layer, const Input& in, const Tensor& queries, const Tensor& keys,
              const Tensor& values, double dropout, AttentionOptions options);
// The same for queries, keys and values side by side in one tensor, qkv (B, T, (H + 2 Hkv) d), as
// one projection computes them. Throws ShapeError if `in` has a cache.
Tensor attend(const Module& layer, const Input& in, const Tensor& qkv, double dropout,
              AttentionOptions options);

// Queries or keys (B, T, H d) rotated by their positions (autograd/ops/rotary.h); unchanged if
// there are no angles. head_width: d, if the angles are those of a part of it.
Tensor rotated(const Tensor& x, const Array& angles, const Input& in,
               std::optional<int64_t> head_width = {});

}  // namespace heed
