#include "autograd/ops/scaled_dot_product_attention.h"

#include <array>

namespace heed::detail {

void Attention::forward(Array* weights_out) {
  const AttentionProblem& p = problem;
  y = Array::uninitialised({p.batch, p.queries, p.heads * p.value_width});
  statistics = attention_forward(p, heads_of(p, q, k, v), y.mutable_data());
  if (weights_out != nullptr) {
    *weights_out = Array::uninitialised({p.batch, p.heads, p.queries, p.keys});
    attention_weights(p, heads_of(p, q, k, v), statistics, weights_out->mutable_data());
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
  attention_backward(p, heads_of(p, q, k, v), statistics, y.data(), dy.data(), gradients);
  for (size_t i = 0; i < 3; ++i) {
    if (apart[i]) {
      grads.add(i, std::move(apart[i]));
    }
  }
}

}  // namespace heed::detail
