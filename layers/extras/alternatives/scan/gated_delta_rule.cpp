#include "layers/extras/alternatives/scan/gated_delta_rule.h"

#include <algorithm>
#include <vector>

#include "autograd/kernels/row_math.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/concat.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/permute.h"
#include "autograd/ops/reshape.h"
#include "autograd/ops/slice.h"

namespace heed {

namespace {

// A chunk this long saves about as much memory as it computes twice: one S for 32 tokens.
constexpr int64_t delta_chunk = 32;

struct DeltaSizes {
  int64_t batch, tokens, heads, d, e;

  static DeltaSizes of(const GatedDelta& in) {
    const Shape &q = in.queries.shape(), &v = in.values.shape(), &a = in.alpha.shape();
    require(
        q.rank() == 3 && in.keys.shape() == q && v.rank() == 3 && a.rank() == 3 &&
            in.beta.shape() == a && v[0] == q[0] && v[1] == q[1] && a[0] == q[0] && a[1] == q[1] &&
            a[2] >= 1 && q[2] % a[2] == 0 && v[2] % a[2] == 0,
        "gated_delta_rule: expected queries and keys (B, T, H d), values (B, T, H e), alpha and ",
        "beta (B, T, H), got ", q, ", ", in.keys.shape(), ", ", v, ", ", a, " and ",
        in.beta.shape());
    return {q[0], q[1], a[2], q[2] / a[2], v[2] / a[2]};
  }
  int64_t chunks() const { return (tokens + delta_chunk - 1) / delta_chunk; }
  int64_t state() const { return d * e; }
};

}  // namespace

Tensor gated_delta_rule_composed(const GatedDelta& in) {
  const DeltaSizes n = DeltaSizes::of(in);
  const auto by_head = [&](const Tensor& x) {  // (B, H, T, width)
    return permute(reshape(x, {n.batch, n.tokens, n.heads, x.dim(2) / n.heads}), {0, 2, 1, 3});
  };
  const Tensor q = by_head(in.queries), k = by_head(in.keys), v = by_head(in.values);
  const Tensor alpha = by_head(in.alpha), beta = by_head(in.beta);
  Tensor state(Array::zeros({n.batch, n.heads, n.d, n.e}));
  std::vector<Tensor> rows{Tensor(Array::zeros({n.batch, n.heads, 0, n.e}))};
  for (int64_t t = 0; t < n.tokens; ++t) {
    const auto now = [t](const Tensor& x) { return slice(x, 2, t, t + 1); };  // (B, H, 1, width)
    const Tensor faded = now(alpha) * state;
    const Tensor w = now(beta) * (now(v) - matmul(now(k), faded));
    state = faded + matmul(now(k), w, Trans::yes, Trans::no);
    rows.push_back(matmul(now(q), state));
  }
  const Tensor y = concat(rows, 2);  // (B, H, T, e)
  return reshape(permute(y, {0, 2, 1, 3}), {n.batch, n.tokens, n.heads * n.e});
}

namespace {

// What a token of a head contributes: pointers to its rows.
struct DeltaToken {
  const real *q, *k, *v;  // (d), (d), (e)
  real alpha, beta;
};

// From S before a token to S after it, which may be the same memory; and w (e), and what of the
// value is new, w / beta.
void update_state(const DeltaToken& t, const DeltaSizes& n, const real* before, real* after,
                  real* news, real* w) {
  std::copy_n(t.v, n.e, news);
  for (int64_t i = 0; i < n.d; ++i) add_multiple(-t.alpha * t.k[i], before + i * n.e, n.e, news);
#pragma omp simd
  for (int64_t j = 0; j < n.e; ++j) {
    w[j] = t.beta * news[j];
  }
  for (int64_t i = 0; i < n.d; ++i) {
    const real key = t.k[i];
    const real* const from = before + i * n.e;
    real* const to = after + i * n.e;
#pragma omp simd
    for (int64_t j = 0; j < n.e; ++j) {
      to[j] = t.alpha * from[j] + key * w[j];
    }
  }
}

// A fused call: what its backward needs.
struct DeltaCall {
  DeltaSizes n;
  Array q, k, v, alpha, beta;
  Array y = {};
  Array before = {};  // S before each chunk (B, H, chunks, d, e)

  // `kept` holds S of all heads, or is null at the first token.
  void forward(real* kept);
  void backward(const Array& dy, Grads& grads) const;

 private:
  struct Slopes {
    real *q, *k, *v, *alpha, *beta;
  };
  // A thread's memory for a chunk of a head: not from the pool, which bodies of loops must not use.
  struct Scratch {
    std::vector<real> states, news, w;  // S before each token and after the last; (chunk, e)
    std::vector<real> slope, dw, u;     // G (d, e); (e)

    static Scratch& of_thread(const DeltaSizes& n);
  };
  DeltaToken token(int64_t head, int64_t t) const {
    const int64_t row = (head / n.heads * n.tokens + t) * n.heads + head % n.heads;
    return {q.data() + row * n.d, k.data() + row * n.d, v.data() + row * n.e, alpha.data()[row],
            beta.data()[row]};
  }
  void backward_of_token(int64_t head, int64_t t, int64_t first, const real* dy, Scratch& s,
                         const Slopes& to) const;
};

DeltaCall::Scratch& DeltaCall::Scratch::of_thread(const DeltaSizes& n) {
  thread_local Scratch scratch;
  const auto grow = [](std::vector<real>& memory, int64_t count) {
    memory.resize(std::max(memory.size(), static_cast<size_t>(count)));
  };
  grow(scratch.states, (delta_chunk + 1) * n.state());
  grow(scratch.news, delta_chunk * n.e);
  grow(scratch.w, delta_chunk * n.e);
  grow(scratch.slope, n.state());
  grow(scratch.dw, n.e);
  grow(scratch.u, n.e);
  return scratch;
}

void DeltaCall::forward(real* kept) {
  y = Array::uninitialised(v.shape());
  before = Array::uninitialised(kept == nullptr ? Shape{n.batch, n.heads, n.chunks(), n.d, n.e}
                                                : Shape{0});
  real *const to_y = y.mutable_data(), *const saved = before.mutable_data();
  parallel_each(n.batch * n.heads, 1, [=, this](int64_t head) {
    Scratch& s = Scratch::of_thread(n);
    real* const state = kept != nullptr ? kept + head * n.state() : s.slope.data();
    if (kept == nullptr) std::fill_n(state, n.state(), real{0});
    for (int64_t t = 0; t < n.tokens; ++t) {
      if (kept == nullptr && t % delta_chunk == 0) {
        std::copy_n(state, n.state(), saved + (head * n.chunks() + t / delta_chunk) * n.state());
      }
      const DeltaToken now = token(head, t);
      update_state(now, n, state, state, s.news.data(), s.w.data());
      real* const out = to_y + (now.v - v.data());
      std::fill_n(out, n.e, real{0});
      for (int64_t i = 0; i < n.d; ++i) add_multiple(now.q[i], state + i * n.e, n.e, out);
    }
  });
}

// Token t of the chunk that begins at `first`, whose states, news and w are in `s`.
void DeltaCall::backward_of_token(int64_t head, int64_t t, int64_t first, const real* dy,
                                  Scratch& s, const Slopes& to) const {
  const DeltaToken now = token(head, t);
  const real* const earlier = s.states.data() + (t - first) * n.state();
  const real* const state = earlier + n.state();
  const real *const news = s.news.data() + (t - first) * n.e, *const w =
                                                                  s.w.data() + (t - first) * n.e;
  const real* const slope_y = dy + (now.v - v.data());
  real *const dq = to.q + (now.q - q.data()), *const dk = to.k + (now.k - k.data());
  const int64_t row = (now.v - v.data()) / n.e;
  real *const dw = s.dw.data(), *const u = s.u.data();
  std::fill_n(dw, n.e, real{0});
  for (int64_t i = 0; i < n.d; ++i) {
    real* const g = s.slope.data() + i * n.e;
    add_multiple(now.q[i], slope_y, n.e, g);
    dq[i] = row_dot(state + i * n.e, slope_y, n.e);
    dk[i] = row_dot(g, w, n.e);
    add_multiple(now.k[i], g, n.e, dw);
  }
  real* const dv = to.v + (now.v - v.data());
  for (int64_t j = 0; j < n.e; ++j) {
    dv[j] = now.beta * dw[j];
    u[j] = -dv[j];
  }
  real dalpha = 0;
  for (int64_t i = 0; i < n.d; ++i) {
    real* const g = s.slope.data() + i * n.e;
    const real* const old = earlier + i * n.e;
    const real through_u = row_dot(old, u, n.e);
    dk[i] += now.alpha * through_u;
    dalpha += row_dot(g, old, n.e) + now.k[i] * through_u;
#pragma omp simd
    for (int64_t j = 0; j < n.e; ++j) {
      g[j] = now.alpha * (g[j] + now.k[i] * u[j]);
    }
  }
  to.alpha[row] = dalpha;
  to.beta[row] = row_dot(dw, news, n.e);
}

void DeltaCall::backward(const Array& dy, Grads& grads) const {
  Array dq = Array::uninitialised(q.shape()), dk = Array::uninitialised(q.shape());
  Array dv = Array::uninitialised(v.shape()), dalpha = Array::uninitialised(alpha.shape());
  Array dbeta = Array::uninitialised(alpha.shape());
  const Slopes to{dq.mutable_data(), dk.mutable_data(), dv.mutable_data(), dalpha.mutable_data(),
                  dbeta.mutable_data()};
  parallel_each(n.batch * n.heads, 1, [=, this, from = dy.data()](int64_t head) {
    Scratch& s = Scratch::of_thread(n);
    std::fill_n(s.slope.data(), n.state(), real{0});
    for (int64_t chunk = n.chunks() - 1; chunk >= 0; --chunk) {
      const int64_t first = chunk * delta_chunk, last = std::min(first + delta_chunk, n.tokens);
      std::copy_n(before.data() + (head * n.chunks() + chunk) * n.state(), n.state(),
                  s.states.data());
      for (int64_t t = first; t < last; ++t) {
        real* const state = s.states.data() + (t - first) * n.state();
        update_state(token(head, t), n, state, state + n.state(), s.news.data() + (t - first) * n.e,
                     s.w.data() + (t - first) * n.e);
      }
      for (int64_t t = last - 1; t >= first; --t) backward_of_token(head, t, first, from, s, to);
    }
  });
  size_t input = 0;
  for (Array* slope : {&dq, &dk, &dv, &dalpha, &dbeta}) {
    if (grads.needs(input)) grads.add(input, std::move(*slope));
    ++input;
  }
}

DeltaCall delta_call(const GatedDelta& in) {
  return {.n = DeltaSizes::of(in),
          .q = in.queries.value(),
          .k = in.keys.value(),
          .v = in.values.value(),
          .alpha = in.alpha.value(),
          .beta = in.beta.value()};
}

}  // namespace

Tensor gated_delta_rule(const GatedDelta& in) {
  if (!fused()) {
    return gated_delta_rule_composed(in);
  }
  DeltaCall call = delta_call(in);
  call.forward(nullptr);
  Array y = std::move(call.y);
  return record(
      "gated_delta_rule", std::move(y), {in.queries, in.keys, in.values, in.alpha, in.beta},
      [call = std::move(call)](const Array& dy, Grads& grads) { call.backward(dy, grads); });
}

Array gated_delta_rule_step(const GatedDelta& in, Array& state) {
  DeltaCall call = delta_call(in);
  const DeltaSizes& n = call.n;
  const Shape expected{n.batch, n.heads, n.d, n.e};
  if (!state) {
    state = Array::zeros(expected);
  }
  require(state.shape() == expected, "gated_delta_rule: expected a state ", expected, ", got ",
          state.shape());
  call.forward(state.mutable_data());
  return call.y;
}

}  // namespace heed
