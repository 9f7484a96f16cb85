#include "autograd/ops/scaled_dot_product_attention.h"

#include <array>

namespace heed::detail {

namespace {

// Columns [first, first + heads * width) of x (B, T, n).
template <class T>
HeadRows<T> heads_in(T* x, int64_t rows, int64_t n, int64_t first, int64_t width) {
  return {x + first, rows * n, n, width};
}

}  // namespace

Mask hidden_pairs(const AttentionProblem& p) {
  const bool full = p.mask && p.mask.rank() == 4;
  const int64_t items = full ? p.mask.dim(0) : p.mask ? p.batch : 1;
  const int64_t heads = full ? p.mask.dim(1) : 1;
  const int64_t rows = full || p.causal ? p.queries : 1;
  Mask hidden = Mask::uninitialised({items, heads, rows, p.keys});
  uint8_t* out = hidden.mutable_data();
  parallel_for(items * heads * rows, row_grain(p.keys), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t i = r % rows, h = r / rows % heads, b = r / rows / heads;
      const uint8_t* may = p.mask ? p.mask_row(b, h, i) : nullptr;
      for (int64_t j = 0; j < p.keys; ++j) {
        const bool seen = j < p.visible(i) && (j >= p.first_visible(i) || j < p.sinks) &&
                          (may == nullptr || may[j] != 0);
        out[r * p.keys + j] = seen ? 0 : 1;
      }
    }
  });
  return hidden;
}

Array alibi_bias(const AttentionProblem& p) {
  Array bias = Array::zeros({p.heads, p.queries, p.keys});
  AttentionProblem alone = p;
  alone.soft_cap = 0;
  real* const out = bias.mutable_data();
  parallel_for(p.heads * p.queries, row_grain(p.keys), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      alone.bend_scores(r / p.queries, r % p.queries, 0, p.keys, 1, out + r * p.keys, nullptr);
    }
  });
  return bias;
}

AttentionInputs Attention::inputs() const {
  const AttentionProblem& p = problem;
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

void Attention::forward(Array* weights_out) {
  const AttentionProblem& p = problem;
  y = Array::uninitialised({p.batch, p.queries, p.heads * p.value_width});
  statistics = attention_forward(p, inputs(), y.mutable_data());
  if (weights_out != nullptr) {
    *weights_out = Array::uninitialised({p.batch, p.heads, p.queries, p.keys});
    attention_weights(p, inputs(), statistics, weights_out->mutable_data());
  }
}

void Attention::backward(const Array& dy, Grads& grads) const {
  const AttentionProblem& p = problem;
  AttentionGradients gradients;
  // The same tensor may be more than one of q, k and v; the kernel's gradients must not overlap, so
  // all but the first then go to an array of their own.
  std::array<Array, 3> apart;
  if (!k) {
    const Grads::Target to = grads.target(0);
    const int64_t n = q.dim(2), q_width = p.heads * p.width, kv_width = p.kv_heads * p.width;
    gradients = {{heads_in(to.data, p.queries, n, 0, p.width), to.add},
                 {heads_in(to.data, p.keys, n, q_width, p.width), to.add},
                 {heads_in(to.data, p.keys, n, q_width + kv_width, p.width), to.add}};
  } else {
    const std::array<const Array*, 3> x = {&q, &k, &v};
    const std::array<GradientRows*, 3> to = {&gradients.dq, &gradients.dk, &gradients.dv};
    for (size_t i = 0; i < 3; ++i) {
      if (!grads.needs(i)) continue;
      Grads::Target target = grads.target(i);
      for (size_t before = 0; before < i; ++before) {
        if (to[before]->rows.data == target.data) {
          apart[i] = Array::uninitialised(x[i]->shape());
          target = {apart[i].mutable_data(), false};
        }
      }
      *to[i] = {
          heads_in(target.data, x[i]->dim(1), x[i]->dim(2), 0, i == 2 ? p.value_width : p.width),
          target.add};
    }
  }
  attention_backward(p, inputs(), statistics, y.data(), dy.data(), gradients);
  for (size_t i = 0; i < 3; ++i) {
    if (apart[i]) {
      grads.add(i, std::move(apart[i]));
    }
  }
}

}  // namespace heed::detail
