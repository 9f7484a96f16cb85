#include "layers/extras/recurrent/scan/recurrence.h"

#include "autograd/ops/concat.h"
#include "autograd/ops/sigmoid.h"
#include "autograd/ops/split.h"
#include "autograd/ops/stack.h"
#include "autograd/ops/tanh.h"
#include "autograd/ops/where.h"

namespace heed {

namespace {

void check_recurrence(Cell cell, const Shape& projected, const Affine& hidden,
                      const Tensor& initial, const Mask& tokens) {
  const Shape& weight = hidden.weight.shape();
  const int64_t gates = gates_of(cell);
  require(projected.rank() == 3 && projected[1] >= 1 && weight.rank() == 2 &&
              projected[2] == weight[0] && weight[0] == gates * weight[1],
          "recurrence: expected projected (B, T >= 1, ", gates, " d) and weight (", gates,
          " d, d), got ", projected, " and ", weight);
  require(!hidden.bias || hidden.bias.shape() == Shape{weight[0]}, "recurrence: expected bias ",
          Shape{weight[0]}, ", got ", hidden.bias.shape());
  const Shape first{projected[0], states_of(cell) * weight[1]};
  require(!initial || initial.shape() == first, "recurrence: expected initial (B, ",
          states_of(cell) == 2 ? "2 d" : "d", ") = ", first, ", got ", initial.shape());
  require(!tokens || tokens.shape() == Shape{projected[0], projected[1]},
          "recurrence: expected tokens (B, T) = ", Shape{projected[0], projected[1]}, ", got ",
          tokens.shape());
}

// Column t of a mask (B, T), as (B, 1).
Mask column(const Mask& mask, int64_t t) {
  const int64_t batch = mask.dim(0), tokens = mask.dim(1);
  Mask part = Mask::uninitialised({batch, 1});
  for (int64_t b = 0; b < batch && !dry_run(); ++b) {
    part.mutable_data()[b] = mask.data()[b * tokens + t];
  }
  return part;
}

// s_t from p_t and u_t (B, G d), and s_(t-1) (B, S).
Tensor composed_step(Cell cell, const Tensor& p, const Tensor& u, const Tensor& before) {
  if (cell == Cell::rnn) {
    return tanh(p + u);
  }
  const int64_t d = before.dim(1) / states_of(cell);
  if (cell == Cell::lstm) {
    const std::vector<Tensor> of = split(p + u, d, 1);  // i, f, g, o
    const Tensor old = slice(before, 1, d, 2 * d);
    const Tensor c = sigmoid(of[1]) * old + sigmoid(of[0]) * tanh(of[2]);
    return concat({sigmoid(of[3]) * tanh(c), c}, 1);
  }
  const std::vector<Tensor> ps = split(p, d, 1), us = split(u, d, 1);
  const Tensor r = sigmoid(ps[0] + us[0]), z = sigmoid(ps[1] + us[1]);
  const Tensor n = tanh(ps[2] + r * us[2]);
  return n + z * (before - n);
}

}  // namespace

Tensor recurrence_composed(Cell cell, const Tensor& projected, const Affine& hidden,
                           const Tensor& initial, const Mask& tokens) {
  check_recurrence(cell, projected.shape(), hidden, initial, tokens);
  const int64_t batch = projected.dim(0), width = projected.dim(2), d = hidden.weight.dim(1);
  Tensor s = initial ? initial : Tensor(Array::zeros({batch, states_of(cell) * d}));
  std::vector<Tensor> states;
  for (int64_t t = 0; t < projected.dim(1); ++t) {
    const Tensor p = reshape(slice(projected, 1, t, t + 1), {batch, width});
    const Tensor u = linear_composed(slice(s, 1, 0, d), hidden.weight, hidden.bias);
    const Tensor next = composed_step(cell, p, u, s);
    s = tokens ? where(column(tokens.current(), t), next, s) : next;
    states.push_back(s);
  }
  return stack(states, 1);
}

namespace {

// A fused call: what its backward needs. A row is one token of one sequence.
struct Recurrence {
  Cell cell;
  int64_t batch, tokens, width;
  Array weight;   // (G d, d)
  Array initial;  // (B, S)
  Mask mask;      // (B, T), or none
  Array states;   // (B, T, S)
  Array gates;    // (B, T, 4 d); gru: r, z, n, u^n; lstm: i, f, g, o; rnn: none

  void forward(const Array& projected, const Array& bias);
  void backward(const Array& dy, Grads& grads) const;

 private:
  int64_t state() const { return states_of(cell) * width; }  // S
  // h_(t-1), (B, d), the first columns of s_(t-1).
  ConstMatrix before(int64_t t) const {
    return t == 0 ? ConstMatrix(initial.data(), batch, width, state())
                  : ConstMatrix(states.data() + (t - 1) * state(), batch, width, tokens * state());
  }
  // Calls row(r, s_(t-1), whether it is a token) for each sequence; r is the row of its token t.
  template <class Row>
  void for_rows(int64_t t, Row&& row) const {
    const uint8_t* const is_token = mask ? mask.data() : nullptr;
    const ConstMatrix old = before(t);
    parallel_each(batch, row_grain(gates_of(cell) * width), [&](int64_t b) {
      const int64_t r = b * tokens + t;
      row(r, old.data() + b * old.step(), is_token == nullptr || is_token[r] != 0);
    });
  }
  Array states_before() const;
};

// h holds W h_(t-1) and becomes h_t.
void rnn_row(int64_t d, const real* p, const real* bias, real* h) {
  detail::add_bias(bias, d, h);
  detail::add_bias(p, d, h);
  vector_map(h, h, d, [](real v) { return fast_tanh(v); });
}

// g holds W h_(t-1) and becomes r, z, n, u^n.
void gru_row(int64_t d, const real* p, const real* bias, const real* before, real* g, real* h) {
  real *const n = g + 2 * d, *const inner = g + 3 * d;
  detail::add_bias(bias, 3 * d, g);
  std::copy_n(n, d, inner);
  detail::add_bias(p, 2 * d, g);
  vector_map(g, g, 2 * d, [](real v) { return 1 / (1 + fast_exp(-v)); });
  const real *r = g, *z = g + d;
#pragma omp simd
  for (int64_t i = 0; i < d; ++i) {
    n[i] = p[2 * d + i] + r[i] * inner[i];
  }
  vector_map(n, n, d, [](real v) { return fast_tanh(v); });
#pragma omp simd
  for (int64_t i = 0; i < d; ++i) {
    h[i] = n[i] + z[i] * (before[i] - n[i]);
  }
}

// g holds W h_(t-1) and becomes i, f, g, o. Both states are h and, after it, c.
void lstm_row(int64_t d, const real* p, const real* bias, const real* before, real* g, real* s) {
  const auto sigmoid = [](real v) { return 1 / (1 + fast_exp(-v)); };
  const auto tanh = [](real v) { return fast_tanh(v); };
  detail::add_bias(bias, 4 * d, g);
  detail::add_bias(p, 4 * d, g);
  vector_map(g, g, 2 * d, sigmoid);
  vector_map(g + 2 * d, g + 2 * d, d, tanh);
  vector_map(g + 3 * d, g + 3 * d, d, sigmoid);
  const real *old = before + d, *i = g, *f = g + d, *added = g + 2 * d, *o = g + 3 * d;
  real* const c = s + d;
#pragma omp simd
  for (int64_t k = 0; k < d; ++k) {
    c[k] = f[k] * old[k] + i[k] * added[k];
  }
  vector_map(c, s, d, tanh);
#pragma omp simd
  for (int64_t k = 0; k < d; ++k) {
    s[k] *= o[k];
  }
}

// carry holds ds_t; it becomes the part of ds_(t-1) that does not go through W. The same in the
// backward of the other cells.
void rnn_row_backward(int64_t d, const real* h, real* carry, real* dp) {
#pragma omp simd
  for (int64_t i = 0; i < d; ++i) {
    dp[i] = carry[i] * (1 - h[i] * h[i]);
    carry[i] = 0;
  }
}

void gru_row_backward(int64_t d, const real* g, const real* before, real* carry, real* dp,
                      real* du) {
#pragma omp simd
  for (int64_t i = 0; i < d; ++i) {
    const real r = g[i], z = g[d + i], n = g[2 * d + i], inner = g[3 * d + i], dh = carry[i];
    const real dp_n = dh * (1 - z) * (1 - n * n);
    dp[i] = du[i] = dp_n * inner * r * (1 - r);
    dp[d + i] = du[d + i] = dh * (before[i] - n) * z * (1 - z);
    dp[2 * d + i] = dp_n;
    du[2 * d + i] = dp_n * r;
    carry[i] = dh * z;
  }
}

void lstm_row_backward(int64_t d, const real* g, const real* before, const real* s, real* carry,
                       real* dp) {
  vector_map(s + d, dp, d, [](real v) { return fast_tanh(v); });  // tanh(c), for this loop
#pragma omp simd
  for (int64_t k = 0; k < d; ++k) {
    const real i = g[k], f = g[d + k], added = g[2 * d + k], o = g[3 * d + k], squashed = dp[k];
    const real dh = carry[k], dc = carry[d + k] + dh * o * (1 - squashed * squashed);
    dp[k] = dc * added * i * (1 - i);
    dp[d + k] = dc * before[d + k] * f * (1 - f);
    dp[2 * d + k] = dc * i * (1 - added * added);
    dp[3 * d + k] = dh * squashed * o * (1 - o);
    carry[k] = 0;
    carry[d + k] = dc * f;
  }
}

void Recurrence::forward(const Array& projected, const Array& bias) {
  const int64_t wide = gates_of(cell) * width, both = state();
  const real *p = projected.data(), *b = bias ? bias.data() : nullptr;
  states = Array::uninitialised({batch, tokens, both});
  gates = cell == Cell::rnn ? Array() : Array::uninitialised({batch, tokens, 4 * width});
  real* const s = states.mutable_data();
  real* const g = gates ? gates.mutable_data() : s;  // where W h_(t-1) goes
  const int64_t stride = gates ? 4 * width : width;
  for (int64_t t = 0; t < tokens; ++t) {
    multiply(before(t), as_matrix(weight).transposed(),
             into(Matrix(g + t * stride, batch, wide, tokens * stride)));
    for_rows(t, [=, this](int64_t r, const real* old, bool is_token) {
      real* const to = s + r * both;
      if (!is_token) {
        std::copy_n(old, both, to);
      } else if (cell == Cell::rnn) {
        rnn_row(width, p + r * wide, b, to);
      } else {
        (cell == Cell::gru ? gru_row : lstm_row)(width, p + r * wide, b, old, g + r * stride, to);
      }
    });
  }
}

// h_(t-1) for every t, (B, T, d).
Array Recurrence::states_before() const {
  Array old = Array::uninitialised({batch, tokens, width});
  for (int64_t b = 0; b < batch && !dry_run(); ++b) {
    real* const to = old.mutable_data() + b * tokens * width;
    std::copy_n(initial.data() + b * state(), width, to);
    detail::copy_strips(tokens - 1, width, states.data() + b * tokens * state(), state(),
                        to + width, width);
  }
  return old;
}

void Recurrence::backward(const Array& dy, Grads& grads) const {
  const int64_t wide = gates_of(cell) * width, both = state();
  Array carry = Array::zeros(initial.shape());  // ds of the token before, from all later ones
  Array dp = Array::uninitialised(states.shape().with(-1, wide));
  Array du = cell == Cell::gru ? Array::uninitialised(dp.shape()) : Array();  // others: dp
  const real *from = dy.data(), *s = states.data(), *g = gates ? gates.data() : nullptr;
  real *const later = carry.mutable_data(), *const to_p = dp.mutable_data();
  real* const to_u = du ? du.mutable_data() : to_p;
  for (int64_t t = tokens - 1; t >= 0; --t) {
    for_rows(t, [=, this](int64_t r, const real* old, bool is_token) {
      real *const ds = later + r / tokens * both, *const dp_r = to_p + r * wide;
      detail::add_bias(from + r * both, both, ds);
      if (!is_token) {
        std::fill_n(dp_r, wide, real{0});
        std::fill_n(to_u + r * wide, wide, real{0});
      } else if (cell == Cell::rnn) {
        rnn_row_backward(width, s + r * width, ds, dp_r);
      } else if (cell == Cell::gru) {
        gru_row_backward(width, g + r * 4 * width, old, ds, dp_r, to_u + r * wide);
      } else {
        lstm_row_backward(width, g + r * 4 * width, old, s + r * both, ds, dp_r);
      }
    });
    multiply(ConstMatrix(to_u + t * wide, batch, wide, tokens * wide), as_matrix(weight),
             into(Matrix(later, batch, width, both), true));
  }
  du = du ? du : dp;
  if (grads.needs(1)) multiply(detail::weight_product(states_before(), du, grads.target(1)));
  if (grads.needs(2)) grads.add(2, du);
  if (grads.needs(0)) grads.add(0, std::move(dp));
  if (grads.needs(3)) grads.add(3, std::move(carry));
}

}  // namespace

Tensor recurrence(Cell cell, const Tensor& projected, const Affine& hidden, const Tensor& initial,
                  const Mask& tokens) {
  check_recurrence(cell, projected.shape(), hidden, initial, tokens);
  if (!fused()) {
    return recurrence_composed(cell, projected, hidden, initial, tokens);
  }
  const int64_t batch = projected.dim(0), width = hidden.weight.dim(1);
  const Tensor start = initial ? initial : Tensor(Array::zeros({batch, states_of(cell) * width}));
  Recurrence call{.cell = cell,
                  .batch = batch,
                  .tokens = projected.dim(1),
                  .width = width,
                  .weight = hidden.weight.value(),
                  .initial = start.value(),
                  .mask = tokens ? tokens.current() : Mask()};
  call.forward(projected.value(), hidden.bias.value());
  Array states = call.states;
  return record(
      "recurrence", std::move(states), {projected, hidden.weight, hidden.bias, start},
      [call = std::move(call)](const Array& dy, Grads& grads) { call.backward(dy, grads); });
}

}  // namespace heed
