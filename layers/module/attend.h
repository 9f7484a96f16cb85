// What the attending layers share.
#pragma once

#include "autograd/ops/scaled_dot_product_attention.h"
#include "layers/module/module.h"

namespace heed {

// attn_scores (B, T, S) -> attn_weights: softmax over the keys that the mask allows.
Tensor attention_weights(const Tensor& attn_scores, const Mask& mask);

// Gives the weights (B, T, S) of a layer with one head to the AttentionRecorder, if there is one.
void record_attention(const Module& layer, const Tensor& attn_weights);

// scaled_dot_product_attention for a layer: q, k, v (B, T, H d) -> context_vec (B, T, H d), with
// the mask of `in`, dropout while training, and the weights handed to the AttentionRecorder. With a
// cache in `in` the keys and values of earlier tokens are attended to as well; `causal` layers
// only.
Tensor attend(const Module& layer, const Input& in, const Tensor& queries, const Tensor& keys,
              const Tensor& values, double dropout, AttentionOptions options);
// The same of qkv (B, T, (H + 2 Hkv) d), side by side as one projection makes them; without a
// cache.
Tensor attend(const Module& layer, const Input& in, const Tensor& qkv, double dropout,
              AttentionOptions options);

}  // namespace heed
