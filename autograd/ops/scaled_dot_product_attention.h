// Scaled dot-product attention, all heads of a batch at once. Heads lie side by side in the last
// axis.
//
//   q (B, T, H d), k (B, S, Hkv d), v (B, S, Hkv dv) -> y (B, T, H dv)
//   S_ij = scale * q_i . k_j, -infinity where query i may not attend to key j; before that with
//          soft_cap C S_ij = C tanh(S_ij / C), with alibi S_ij -= slope_h * distance of i and j
//   P    = softmax(S) by rows; a row with nothing to attend to is 0.  Or, composed: S with 0 where
//          it is hidden, divided by the sums of its rows or as it is
//   y_i  = sum_j M_ij P_ij v_j,  M the dropout mask: 0 or 1 / (1 - p)
//
//   dv_j = sum_i M_ij P_ij dy_i
//   dS_ij = P_ij (M_ij dy_i . v_j - y_i . dy_i)
//   dq_i = scale * sum_j dS_ij k_j        dk_j = scale * sum_i dS_ij q_i
//
// Saves q, k, v, y and two numbers a row; memory grows with T, not with T S (see attention.h). The
// composed form is the definition; set_fused(false) runs it.
#pragma once

#include "autograd/base/modes.h"
#include "autograd/kernels/attention.h"
#include "autograd/op.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/divide_by_sum.h"
#include "autograd/ops/masked_fill.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/permute.h"
#include "autograd/ops/reshape.h"
#include "autograd/ops/slice.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/tanh.h"

namespace heed {

namespace detail {

// One fused call: its value, and what its backward needs.
struct Attention {
  AttentionProblem problem;
  Array q, k, v;  // or q alone, which then is qkv
  Array y;        // (B, T, H dv)
  AttentionStatistics statistics;

  void forward(Array* weights_out);
  void backward(const Array& dy, Grads& grads) const;
};

inline Tensor fused_attention(Attention call, TensorRefs inputs, Array* weights_out) {
  call.forward(weights_out);
  Array y = call.y;
  return record(
      "scaled_dot_product_attention", std::move(y), inputs,
      [call = std::move(call)](const Array& dy, Grads& grads) { call.backward(dy, grads); });
}

// x (B, n, Hkv G w) -> (B, Hkv, G, n, w)
inline Tensor split_heads(const Tensor& x, int64_t kv_heads, int64_t group, int64_t width) {
  const Tensor heads = reshape(x, {x.dim(0), x.dim(1), kv_heads, group, width});
  return permute(heads, {0, 2, 3, 1, 4});
}

// attn_weights (B, H, T, S), v (B, S, Hkv dv) -> y (B, T, H dv): each head mixes its values.
inline Tensor mix_values(const Tensor& attn_weights, const Tensor& v, int64_t kv_heads) {
  const Shape& s = attn_weights.shape();
  const Tensor groups = reshape(attn_weights, {s[0], kv_heads, s[1] / kv_heads, s[2], s[3]});
  const Tensor mixed = matmul(groups, split_heads(v, kv_heads, 1, v.dim(2) / kv_heads));
  return reshape(permute(mixed, {0, 3, 1, 2, 4}), {s[0], s[2], s[1] * mixed.dim(4)});
}

// The weights of scores in which hidden pairs have hidden_score_of().
inline Tensor weights_of(const Tensor& scores, Normalisation by) {
  if (by == Normalisation::softmax) return softmax(scores);
  return by == Normalisation::sum ? divide_by_sum(scores) : scores;
}

}  // namespace detail

[[nodiscard]] inline Tensor scaled_dot_product_attention_composed(const Tensor& q, const Tensor& k,
                                                                  const Tensor& v,
                                                                  const AttentionOptions& options) {
  const auto p = detail::AttentionProblem::of(q.shape(), k.shape(), v.shape(), options);
  const int64_t group = p.heads / p.kv_heads;
  const Shape pairs{p.batch, p.heads, p.queries, p.keys};                     // (B, H, T, S)
  const Tensor heads_q = detail::split_heads(q, p.kv_heads, group, p.width);  // (B, Hkv, G, T, d)
  const Tensor heads_k = detail::split_heads(k, p.kv_heads, 1, p.width);      // (B, Hkv, 1, S, d)

  Tensor scores = reshape(p.scale * matmul(heads_q, heads_k, Trans::no, Trans::yes), pairs);
  if (p.soft_cap > 0) scores = p.soft_cap * tanh(scores / Tensor(p.soft_cap));
  if (p.alibi) scores = scores + Tensor(detail::alibi_bias(p));
  if (p.causal || p.mask) {
    scores = masked_fill(scores, detail::hidden_pairs(p),
                         detail::hidden_score_of(options.normalisation));
  }
  Tensor weights = detail::weights_of(scores, options.normalisation);
  if (options.weights_out != nullptr) {
    *options.weights_out = weights.value();
  }
  if (!p.dropout.is_identity()) {
    weights = weights * detail::dropout_factors(p.dropout, pairs);
  }
  return detail::mix_values(weights, v, p.kv_heads);
}

// ShapeError when the shapes, the heads or the mask do not fit together.
[[nodiscard]] inline Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k,
                                                         const Tensor& v,
                                                         const AttentionOptions& options) {
  if (!fused() || options.normalisation != Normalisation::softmax) {
    return scaled_dot_product_attention_composed(q, k, v, options);
  }
  const auto problem = detail::AttentionProblem::of(q.shape(), k.shape(), v.shape(), options);
  return detail::fused_attention({problem, q.value(), k.value(), v.value(), Array(), {}}, {q, k, v},
                                 options.weights_out);
}

// Self-attention on qkv (B, T, (H + 2 Hkv) d), the columns of q, k and v side by side as a packed
// projection makes them. Their gradients go into one array of that shape.
[[nodiscard]] inline Tensor scaled_dot_product_attention(const Tensor& qkv,
                                                         const AttentionOptions& options) {
  const auto problem = detail::AttentionProblem::of_packed(qkv.shape(), options);
  if (!fused() || options.normalisation != Normalisation::softmax) {
    const int64_t columns = problem.heads * problem.width, kv = problem.kv_heads * problem.width;
    return scaled_dot_product_attention_composed(
        slice(qkv, 2, 0, columns), slice(qkv, 2, columns, columns + kv),
        slice(qkv, 2, columns + kv, columns + 2 * kv), options);
  }
  return detail::fused_attention({problem, qkv.value(), Array(), Array(), Array(), {}}, {qkv},
                                 options.weights_out);
}

}  // namespace heed
