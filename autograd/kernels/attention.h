// Scaled dot-product attention of arrays: what ops/scaled_dot_product_attention.h is made of.
//
//   S_ij = scale * q_i . k_j where i may attend to j, else -infinity
//   P_i  = softmax of S_i;  y_i = sum_j m_ij P_ij v_j with the dropout mask m
//
// No kernel keeps a matrix of T x S numbers. Blocks of S are computed, used and discarded; the
// backward pass computes them again from q, k and the two numbers per row that the forward pass
// kept. Blocks that are hidden as a whole are skipped. Memory grows with T, not with T S.
//
// Sizes: B items, H heads of queries sharing Hkv heads of keys, T queries, S keys, width d of
// queries and keys, dv of values. Source: Dao et al., "FlashAttention", 2022, arXiv:2205.14135.
#pragma once

#include <algorithm>
#include <optional>

#include "autograd/array/array.h"
#include "autograd/random/dropout_mask.h"

namespace heed {

// What makes weights of scores: softmax, division by their sum, or nothing.
enum class Normalisation { softmax, sum, none };

struct AttentionOptions {
  int64_t num_heads = 1;
  int64_t num_kv_heads = 0;  // 0: num_heads. Fewer: query head h uses key head h / (H / Hkv)
  bool causal = false;       // query i sees keys j <= i + (S - T): the last query sees all
  int64_t window = 0;        // of a causal one: no more than the last `window` of these; 0: all
  int64_t sinks = 0;         // and, with a window, the first `sinks` keys (Xiao et al. 2023)
  std::optional<real> scale = std::nullopt;  // of the scores; absent: 1 / sqrt(d)
  real soft_cap = 0;         // C: scores become C tanh(score / C); 0: they stay (Gemma 2)
  bool alibi = false;        // of a causal one: minus alibi_slope(h) times the distance of i and j
  Mask mask = {};            // none, (B, S), or (B or 1, H or 1, T, S); and-ed with causal
  DropoutMask dropout = {};  // of B H T S elements: weight (b, h, i, j) has ((b H + h) T + i) S + j
  Normalisation normalisation = Normalisation::softmax;  // the others have no kernel
  Array* weights_out = nullptr;  // when set, receives the weights before dropout (B, H, T, S)

  int64_t kv_heads() const { return num_kv_heads == 0 ? num_heads : num_kv_heads; }
  // Whether a key that a window hides plays no part for later queries either. With alibi the sinks
  // need their distance, which is counted in keys.
  bool forgets() const { return window > 0 && (sinks == 0 || !alibi); }
};

// Press, Smith and Lewis 2022, "Train Short, Test Long": 2^(-8 (h + 1) / H) if H is a power of two.
// Else those of the largest power of two n below H come first, then every other one of 2 n heads.
double alibi_slope(int64_t h, int64_t heads);

namespace detail {

// All heads of q, k, v, y or one of their gradients, side by side in rows that may be part of a
// wider array: head h of row t of item b begins at data + b * item + t * row + h * width.
template <class T>
struct HeadRows {
  T* data = nullptr;
  int64_t item = 0;
  int64_t row = 0;
  int64_t width = 0;

  T* at(int64_t b, int64_t h, int64_t t) const { return data + b * item + t * row + h * width; }
};

struct AttentionProblem {
  int64_t batch = 0, heads = 0, kv_heads = 0;
  int64_t queries = 0, keys = 0;
  int64_t width = 0, value_width = 0;
  real scale = 1;
  bool causal = false;
  int64_t window = 0, sinks = 0;  // a window that hides nothing is 0
  real soft_cap = 0;
  bool alibi = false;
  Mask mask = {};  // none, (B, S), or (B or 1, H or 1, T, S)
  DropoutMask dropout = {};

  // Checked sizes of q (B, T, H d), k (B, S, Hkv d), v (B, S, Hkv dv). Throws ShapeError.
  static AttentionProblem of(const Shape& q, const Shape& k, const Shape& v,
                             const AttentionOptions& options);
  // The same of qkv (B, T, (H + 2 Hkv) d), the columns of q, k and v side by side.
  static AttentionProblem of_packed(const Shape& qkv, const AttentionOptions& options);

  int64_t kv_head(int64_t h) const { return h / (heads / kv_heads); }

  // Causality lets query i see keys [0, visible(i)).
  int64_t visible(int64_t i) const {
    return causal ? std::clamp<int64_t>(i + 1 + keys - queries, 0, keys) : keys;
  }
  // A window hides keys [sinks, first_visible(i)) from it.
  int64_t first_visible(int64_t i) const {
    return window == 0 ? 0 : std::max<int64_t>(0, i + 1 + keys - queries - window);
  }
  // The first key that one of the queries [i, T) sees.
  int64_t first_key(int64_t i) const { return sinks > 0 ? 0 : first_visible(i); }
  // The end of the queries that see one of the keys [j, end).
  int64_t last_query(int64_t j, int64_t end) const {
    return window == 0 || j < sinks
               ? queries
               : std::clamp<int64_t>(end - 1 + window - keys + queries, 0, queries);
  }

  // Replaces x (n), scores of query i of head h and keys from j, by what soft_cap and alibi make of
  // them. `slope` (n), if not null, becomes the derivative of soft_cap.
  void bend_scores(int64_t h, int64_t i, int64_t j, int64_t n, real* x, real* slope) const;

  // The mask's row for query i, of S bytes.
  const uint8_t* mask_row(int64_t b, int64_t h, int64_t i) const {
    if (mask.rank() == 2) {
      return mask.data() + b * keys;
    }
    const int64_t item = mask.dim(0) == 1 ? 0 : b, head = mask.dim(1) == 1 ? 0 : h;
    return mask.data() + ((item * mask.dim(1) + head) * queries + i) * keys;
  }

  // Operations of a forward pass, from the pairs (i, j) that causality leaves. A backward pass has
  // twice as many: dV, dP, dQ and dK. Computing the scores again is not progress, so it does not
  // count.
  int64_t forward_flops() const;
};

struct AttentionInputs {
  HeadRows<const real> q, k, v;
};

// What the forward pass keeps of the softmax of each row, (B, H, T) each: its largest score and
// 1 / sum_j exp(S_ij - largest). They are kept separately, because in their sum, the log-sum-exp,
// a large score would swallow the logarithm. A row with nothing to attend to has 0 and 0.
struct AttentionStatistics {
  Array largest, inverse_sum;
};

// Where a gradient goes. It is not computed if data is null.
struct GradientRows {
  HeadRows<real> rows;
  bool add = false;  // to what is there
};

struct AttentionGradients {
  GradientRows dq, dk, dv;
};

// y (B, T, H dv), row by row.
AttentionStatistics attention_forward(const AttentionProblem& problem,
                                      const AttentionInputs& inputs, real* y);

// weights (B, H, T, S): P, before dropout.
void attention_weights(const AttentionProblem& problem, const AttentionInputs& inputs,
                       const AttentionStatistics& statistics, real* weights);

// y and dy (B, T, H dv). The gradients may not overlap.
void attention_backward(const AttentionProblem& problem, const AttentionInputs& inputs,
                        const AttentionStatistics& statistics, const real* y, const real* dy,
                        const AttentionGradients& gradients);

// Columns [first, first + heads * width) of x (B, rows, n).
template <class T>
HeadRows<T> heads_in(T* x, int64_t rows, int64_t n, int64_t first, int64_t width) {
  return {x + first, rows * n, n, width};
}

// The heads of q, k and v; without k those of q, which then is qkv.
AttentionInputs heads_of(const AttentionProblem& p, const Array& q, const Array& k, const Array& v);

// True where a query may not attend, a mask for masked_fill: (B or 1, H or 1, T or 1, S).
Mask hidden_pairs(const AttentionProblem& problem);

// (H, T, S): what alibi adds to the scores.
Array alibi_bias(const AttentionProblem& problem);

// What takes the place of the score of a hidden pair.
inline real hidden_score_of(Normalisation by) {
  return by == Normalisation::softmax ? -std::numeric_limits<real>::infinity() : 0;
}

// All elements of the mask, 0 or its factor.
Array dropout_factors(const DropoutMask& mask, const Shape& shape);

}  // namespace detail

}  // namespace heed
