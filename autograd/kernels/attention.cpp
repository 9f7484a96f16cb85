#include "autograd/kernels/attention.h"

#include <bit>
#include <cmath>

#include "autograd/base/error.h"
#include "autograd/kernels/choice.h"
#include "autograd/kernels/gemm.h"
#include "autograd/kernels/vector_math.h"
#include "autograd/threads/parallel.h"

namespace heed {

double alibi_slope(int64_t h, int64_t heads) {
  const auto n = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
  const int64_t step = h < n ? 2 * (h + 1) : 2 * (h - n) + 1;  // of a fall by 2^(-4 / n)
  double slope = std::ldexp(1.0, -static_cast<int>(4 * step / n)), root = 0.5;
  int64_t rest = 4 * step % n;  // of n: 2^(-1/2), 2^(-1/4), ... are roots, exact on every machine
  for (int64_t half = n / 2; rest > 0; half /= 2) {
    root = std::sqrt(root);
    if (rest >= half) slope *= root, rest -= half;
  }
  return slope;
}

namespace detail {

namespace {

constexpr const char* attention_name = "scaled_dot_product_attention";

void check_mask(const AttentionProblem& p) {
  const Shape& mask = p.mask.shape();
  if (mask.rank() == 2) {
    require(mask == Shape{p.batch, p.keys}, attention_name,
            ": expected a mask (B, S) = ", Shape{p.batch, p.keys}, ", got ", mask);
    return;
  }
  const bool fits = mask.rank() == 4 && (mask[0] == p.batch || mask[0] == 1) &&
                    (mask[1] == p.heads || mask[1] == 1) && mask[2] == p.queries &&
                    mask[3] == p.keys;
  require(fits, attention_name,
          ": expected a mask (B, S) or (B or 1, H or 1, T, S) with B, H, T, S = ",
          Shape{p.batch, p.heads, p.queries, p.keys}, ", got ", mask);
}

AttentionProblem with_heads(const AttentionOptions& options) {
  AttentionProblem p;
  p.heads = options.num_heads;
  p.kv_heads = options.kv_heads();
  require(p.heads >= 1 && p.kv_heads >= 1 && p.heads % p.kv_heads == 0, attention_name,
          ": expected num_heads to be a multiple of num_kv_heads, got ", p.heads, " and ",
          p.kv_heads);
  return p;
}

int64_t width_of_head(const char* name, int64_t columns, int64_t heads) {
  require(columns % heads == 0 && columns > 0, attention_name, ": expected the last axis of ", name,
          " to be a positive multiple of its ", heads, " heads, got ", columns);
  return columns / heads;
}

AttentionProblem with_options(AttentionProblem p, const AttentionOptions& options) {
  const double usual = 1 / std::sqrt(static_cast<double>(p.width));
  p.scale = options.scale.value_or(static_cast<real>(usual));
  p.causal = options.causal;
  require(p.causal || (options.window == 0 && !options.alibi), attention_name,
          ": expected causal with a window or alibi");
  p.window = options.window + options.sinks < p.keys ? options.window : 0;
  p.sinks = p.window > 0 ? options.sinks : 0;
  p.soft_cap = options.soft_cap;
  p.alibi = options.alibi;
  p.mask = options.mask.current();
  p.dropout = options.dropout;
  if (p.mask) {
    check_mask(p);
  }
  return p;
}

// The forward and the backward pass of a call run on the same one.
const AttentionKernel& attention_kernel() { return *kernel_in_use().attention; }

}  // namespace

AttentionProblem AttentionProblem::of(const Shape& q, const Shape& k, const Shape& v,
                                      const AttentionOptions& options) {
  require(q.rank() == 3 && k.rank() == 3 && v.rank() == 3 && q[0] == k[0] && q[0] == v[0] &&
              k[1] == v[1],
          attention_name, ": expected q (B, T, H d), k (B, S, Hkv d), v (B, S, Hkv dv), got ", q,
          ", ", k, ", ", v);
  AttentionProblem p = with_heads(options);
  p.batch = q[0];
  p.queries = q[1];
  p.keys = k[1];
  p.width = width_of_head("q", q[2], p.heads);
  p.value_width = width_of_head("v", v[2], p.kv_heads);
  require(width_of_head("k", k[2], p.kv_heads) == p.width, attention_name,
          ": expected heads of k as wide as those of q, got ", q, " in ", p.heads, " heads and ", k,
          " in ", p.kv_heads);
  return with_options(std::move(p), options);
}

AttentionProblem AttentionProblem::of_packed(const Shape& qkv, const AttentionOptions& options) {
  require(qkv.rank() == 3, attention_name, ": expected qkv (B, T, (H + 2 Hkv) d), got ", qkv);
  AttentionProblem p = with_heads(options);
  p.batch = qkv[0];
  p.queries = p.keys = qkv[1];
  p.width = p.value_width = width_of_head("qkv", qkv[2], p.heads + 2 * p.kv_heads);
  return with_options(std::move(p), options);
}

int64_t AttentionProblem::forward_flops() const {
  // Under causality the last min(T, n) queries see keys; one more each, up to all n of them. What a
  // window hides has that form too.
  const auto seen = [this](int64_t n) {
    const int64_t seeing = std::clamp<int64_t>(n, 0, queries);
    return seeing * (n - seeing) + seeing * (seeing + 1) / 2;
  };
  const int64_t hidden = window == 0 ? 0 : seen(keys - window - sinks);
  const int64_t pairs = causal ? seen(keys) - hidden : queries * keys;
  return 2 * batch * heads * pairs * (width + value_width);
}

void AttentionProblem::bend_scores(int64_t h, int64_t i, int64_t j, int64_t n, real* x,
                                   real* slope) const {
  if (soft_cap == 0 && !alibi) return;
  if (soft_cap > 0) {
    vector_map(x, x, n, [by = 1 / soft_cap](real s) { return fast_tanh(by * s); });
  }
  for (int64_t c = 0; c < n && slope != nullptr; ++c) slope[c] = 1 - x[c] * x[c];
  const real times = soft_cap > 0 ? soft_cap : 1;
  const auto fall = static_cast<real>(alibi ? alibi_slope(h, heads) : 0);
  const auto distance = static_cast<real>(i + keys - queries - j);
  for (int64_t c = 0; c < n; ++c) {
    x[c] = times * x[c] - fall * (distance - static_cast<real>(c));
  }
}

AttentionInputs heads_of(const AttentionProblem& p, const Array& q, const Array& k,
                         const Array& v) {
  const int64_t kv_width = p.kv_heads * p.width, q_width = p.heads * p.width;
  if (!k) {
    const int64_t n = q.dim(2);
    return {heads_in(q.data(), p.queries, n, 0, p.width),
            heads_in(q.data(), p.keys, n, q_width, p.width),
            heads_in(q.data(), p.keys, n, q_width + kv_width, p.width)};
  }
  return {heads_in(q.data(), p.queries, q_width, 0, p.width),
          heads_in(k.data(), p.keys, kv_width, 0, p.width),
          heads_in(v.data(), p.keys, v.dim(2), 0, p.value_width)};
}

Mask hidden_pairs(const AttentionProblem& p) {
  const bool full = p.mask && p.mask.rank() == 4;
  const int64_t items = full ? p.mask.dim(0) : p.mask ? p.batch : 1;
  const int64_t heads = full ? p.mask.dim(1) : 1;
  const int64_t rows = full || p.causal ? p.queries : 1;
  Mask hidden = Mask::uninitialised({items, heads, rows, p.keys});
  uint8_t* out = hidden.mutable_data();
  parallel_each(items * heads * rows, row_grain(p.keys), [&](int64_t r) {
    const int64_t i = r % rows, h = r / rows % heads, b = r / rows / heads;
    const uint8_t* may = p.mask ? p.mask_row(b, h, i) : nullptr;
    for (int64_t j = 0; j < p.keys; ++j) {
      const bool seen = j < p.visible(i) && (j >= p.first_visible(i) || j < p.sinks) &&
                        (may == nullptr || may[j] != 0);
      out[r * p.keys + j] = seen ? 0 : 1;
    }
  });
  return hidden;
}

Array alibi_bias(const AttentionProblem& p) {
  Array bias = Array::zeros({p.heads, p.queries, p.keys});
  AttentionProblem alone = p;
  alone.soft_cap = 0;
  real* const out = bias.mutable_data();
  parallel_each(p.heads * p.queries, row_grain(p.keys), [&](int64_t r) {
    alone.bend_scores(r / p.queries, r % p.queries, 0, p.keys, out + r * p.keys, nullptr);
  });
  return bias;
}

Array dropout_factors(const DropoutMask& mask, const Shape& shape) {
  Array factors = Array::uninitialised(shape);
  real* out = factors.mutable_data();
  parallel_for(shape.size(), elementwise_grain,
               [&](int64_t begin, int64_t end) { mask.scale(begin, end - begin, out + begin); });
  return factors;
}

AttentionStatistics attention_forward(const AttentionProblem& p, const AttentionInputs& inputs,
                                      real* y) {
  const Shape rows{p.batch, p.heads, p.queries};
  AttentionStatistics statistics{Array::uninitialised(rows), Array::uninitialised(rows)};
  count_flops(p.forward_flops());
  if (rows.size() > 0) {
    attention_kernel().forward(p, inputs, y, statistics);
  }
  return statistics;
}

void attention_weights(const AttentionProblem& p, const AttentionInputs& inputs,
                       const AttentionStatistics& statistics, real* weights) {
  attention_kernel().weights(p, inputs, statistics, weights);
}

void attention_backward(const AttentionProblem& p, const AttentionInputs& inputs,
                        const AttentionStatistics& statistics, const real* y, const real* dy,
                        const AttentionGradients& gradients) {
  count_flops(2 * p.forward_flops());
  if (p.batch > 0) {
    attention_kernel().backward(p, inputs, statistics, y, dy, gradients);
  }
}

}  // namespace detail

}  // namespace heed
