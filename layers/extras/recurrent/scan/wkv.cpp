#include "layers/extras/recurrent/scan/wkv.h"

#include <cmath>
#include <vector>

#include "autograd/kernels/row_math.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/exp.h"
#include "autograd/ops/masked_fill.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/permute.h"
#include "autograd/ops/reshape.h"
#include "autograd/ops/softmax.h"

namespace heed {

namespace {

// e^80 is already the loss of everything within one token, and e^89 is too large for float32.
constexpr real largest_decay = 80;

void check_wkv(const Shape& keys, const Shape& values, const Shape& decay, const Shape& first) {
  require(keys.rank() == 3 && values == keys && decay == Shape{keys[2]} && first == decay,
          "wkv: expected keys and values (B, T, d), time_decay and time_first (d), got ", keys,
          ", ", values, ", ", decay, " and ", first);
}

}  // namespace

Tensor wkv_composed(const Tensor& keys, const Tensor& values, const Tensor& time_decay,
                    const Tensor& time_first) {
  check_wkv(keys.shape(), values.shape(), time_decay.shape(), time_first.shape());
  const int64_t batch = keys.dim(0), tokens = keys.dim(1), width = keys.dim(2);
  Array distance = Array::zeros({tokens, tokens}), own = Array::zeros({tokens, tokens});
  Mask later = Mask::uninitialised({tokens, tokens});
  for (int64_t i = 0; i < tokens * tokens && !dry_run(); ++i) {
    const int64_t t = i / tokens, s = i % tokens;
    distance.mutable_data()[i] = static_cast<real>(std::max<int64_t>(0, t - 1 - s));
    own.mutable_data()[i] = s == t ? 1 : 0;
    later.mutable_data()[i] = s > t ? 1 : 0;
  }
  const Tensor w = reshape(-exp(time_decay), {width, 1, 1});
  const Tensor u = reshape(time_first, {width, 1, 1});
  const auto by_channel = [&](const Tensor& x) {  // (B, d, 1, T)
    return reshape(permute(x, {0, 2, 1}), {batch, width, 1, tokens});
  };
  const Tensor exponents = by_channel(keys) + (w * Tensor(distance) + u * Tensor(own));
  const Tensor weights = softmax(masked_fill(exponents, later, minus_infinity));  // (B, d, T, T)
  const Tensor mean = matmul(weights, by_channel(values), Trans::no, Trans::yes);
  return permute(reshape(mean, {batch, width, tokens}), {0, 2, 1});
}

namespace {

// As std::max, but by value: a choice between addresses would keep a loop from being vectorised.
inline real larger(real a, real b) { return a > b ? a : b; }

// Channels that a thread computes together, and that fit into its first cache with all they need.
constexpr int64_t block_width = 64;

// a, b and p of a block of channels, as the header defines them.
struct Sums {
  real a[block_width], b[block_width], p[block_width];

  void clear() {
    std::fill_n(a, block_width, real{0});
    std::fill_n(b, block_width, real{0});
    std::fill_n(p, block_width, minus_infinity);
  }
};

// Channels [channel, channel + n) of sequence b.
struct Block {
  int64_t b, channel, n;
};

// A fused call: what its backward needs.
struct Wkv {
  int64_t batch, tokens, width;
  Array k, v;  // (B, T, d)
  Array w, u;  // (d)
  Array y = {};

  void forward(real* state);
  void backward(const Array& dy, Grads& grads) const;

 private:
  int64_t at(const Block& c, int64_t t) const { return (c.b * tokens + t) * width + c.channel; }
  // Runs body(block) for all blocks of channels of all sequences, each on one thread.
  template <class Body>
  void for_blocks(Body&& body) const {
    const int64_t blocks = (width + block_width - 1) / block_width;
    parallel_each(batch * blocks, 1, [&](int64_t i) {
      const int64_t channel = i % blocks * block_width;
      body(Block{i / blocks, channel, std::min(block_width, width - channel)});
    });
  }
  void gradients_of(const Block& c, const real* dy, real* dk, real* dv, real* dw, real* du) const;
};

// y of a token, and the sums with it.
void forward_row(int64_t n, const real* w, const real* u, const real* k, const real* v, Sums& sums,
                 real* y) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const real a = sums.a[i], b = sums.b[i], p = sums.p[i];
    const real own = u[i] + k[i], m = larger(p, own);
    const real past = exp_of(p - m), now = exp_of(own - m);
    y[i] = (past * a + now * v[i]) / (past * b + now);
    const real older = p + w[i], q = larger(older, k[i]);
    const real kept = exp_of(older - q), added = exp_of(k[i] - q);
    sums.a[i] = kept * a + added * v[i];
    sums.b[i] = kept * b + added;
    sums.p[i] = q;
  }
}

void Wkv::forward(real* state) {
  y = Array::uninitialised(k.shape());
  real* const to = y.mutable_data();
  for_blocks([=, this](const Block& c) {
    Sums sums;
    sums.clear();
    real* const kept = state != nullptr ? state + c.b * 3 * width + c.channel : nullptr;
    if (kept != nullptr) {
      std::copy_n(kept, c.n, sums.a);
      std::copy_n(kept + width, c.n, sums.b);
      std::copy_n(kept + 2 * width, c.n, sums.p);
    }
    for (int64_t t = 0; t < tokens; ++t) {
      forward_row(c.n, w.data() + c.channel, u.data() + c.channel, k.data() + at(c, t),
                  v.data() + at(c, t), sums, to + at(c, t));
    }
    if (kept != nullptr) {
      std::copy_n(sums.a, c.n, kept);
      std::copy_n(sums.b, c.n, kept + width);
      std::copy_n(sums.p, c.n, kept + 2 * width);
    }
  });
}

// The sums, their slopes in w, which are divided by e^p too, and dw and du so far.
struct SlopeSums : Sums {
  real a_slope[block_width] = {}, b_slope[block_width] = {};
  real dw[block_width] = {}, du[block_width] = {};
};

// Computes r and m of a token, adds to dw and du, and updates the sums.
void slope_row(int64_t n, const real* w, const real* u, const real* k, const real* v, const real* y,
               const real* dy, SlopeSums& sums, real* r, real* m) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const real a = sums.a[i], b = sums.b[i], p = sums.p[i];
    const real own = u[i] + k[i], top = larger(p, own);
    const real past = exp_of(p - top), now = exp_of(own - top);
    const real slope = dy[i] / (past * b + now);
    sums.du[i] += slope * now * (v[i] - y[i]);
    sums.dw[i] += slope * past * (sums.a_slope[i] - y[i] * sums.b_slope[i]);
    r[i] = slope;
    m[i] = top;
    const real older = p + w[i], q = larger(older, k[i]);
    const real kept = exp_of(older - q), added = exp_of(k[i] - q);
    sums.a_slope[i] = kept * (sums.a_slope[i] + a);
    sums.b_slope[i] = kept * (sums.b_slope[i] + b);
    sums.a[i] = kept * a + added * v[i];
    sums.b[i] = kept * b + added;
    sums.p[i] = q;
  }
}

// dk and dv of a token. `sums` holds da and db divided by e^p, of this token and then of the one
// before it. p_t + k_t and the other exponents are at most 0: m of a later token is at least what
// k_t contributes to its sums.
void backward_row(int64_t n, const real* w, const real* u, const real* k, const real* v,
                  const real* y, const real* r, const real* m, Sums& sums, real* dk, real* dv) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const real da = sums.a[i], db = sums.b[i], p = sums.p[i];
    const real now = r[i] * exp_of(u[i] + k[i] - m[i]), later = exp_of(k[i] + p);
    dv[i] = now + da * later;
    dk[i] = now * (v[i] - y[i]) + (da * v[i] + db) * later;
    const real older = p + w[i], q = larger(older, -m[i]);
    const real kept = exp_of(older - q), added = r[i] * exp_of(-m[i] - q);
    sums.a[i] = kept * da + added;
    sums.b[i] = kept * db - added * y[i];
    sums.p[i] = q;
  }
}

void Wkv::gradients_of(const Block& c, const real* dy, real* dk, real* dv, real* dw,
                       real* du) const {
  thread_local std::vector<real> memory;  // r and m of every token
  memory.resize(std::max(memory.size(), static_cast<size_t>(2 * tokens * block_width)));
  real *const r = memory.data(), *const m = r + tokens * block_width;
  const real *const decay = w.data() + c.channel, *const bonus = u.data() + c.channel;
  SlopeSums slopes;
  slopes.clear();
  for (int64_t t = 0; t < tokens; ++t) {
    const int64_t i = at(c, t);
    slope_row(c.n, decay, bonus, k.data() + i, v.data() + i, y.data() + i, dy + i, slopes,
              r + t * block_width, m + t * block_width);
  }
  std::copy_n(slopes.dw, c.n, dw + c.b * width + c.channel);
  std::copy_n(slopes.du, c.n, du + c.b * width + c.channel);
  Sums later;
  later.clear();
  for (int64_t t = tokens - 1; t >= 0; --t) {
    const int64_t i = at(c, t);
    backward_row(c.n, decay, bonus, k.data() + i, v.data() + i, y.data() + i, r + t * block_width,
                 m + t * block_width, later, dk + i, dv + i);
  }
}

// w (d) = -e^time_decay
Array decay_of(const Array& time_decay) {
  return map(time_decay, [](real x) { return -std::exp(std::min(x, largest_decay)); });
}

void Wkv::backward(const Array& dy, Grads& grads) const {
  Array dk = Array::uninitialised(k.shape()), dv = Array::uninitialised(k.shape());
  Array dw = Array::uninitialised({batch, width}), du = Array::uninitialised({batch, width});
  for_blocks([&, from = dy.data(), to_k = dk.mutable_data(), to_v = dv.mutable_data(),
              to_w = dw.mutable_data(), to_u = du.mutable_data()](const Block& c) {
    gradients_of(c, from, to_k, to_v, to_w, to_u);
  });
  if (grads.needs(0)) grads.add(0, std::move(dk));
  if (grads.needs(1)) grads.add(1, std::move(dv));
  // dw/dtime_decay = w. add() sums over the batch.
  if (grads.needs(2)) grads.add(2, zip("wkv", dw, w, [](real s, real x) { return s * x; }));
  if (grads.needs(3)) grads.add(3, std::move(du));
}

}  // namespace

Tensor wkv(const Tensor& keys, const Tensor& values, const Tensor& time_decay,
           const Tensor& time_first) {
  check_wkv(keys.shape(), values.shape(), time_decay.shape(), time_first.shape());
  if (!fused()) {
    return wkv_composed(keys, values, time_decay, time_first);
  }
  Wkv call{.batch = keys.dim(0),
           .tokens = keys.dim(1),
           .width = keys.dim(2),
           .k = keys.value(),
           .v = values.value(),
           .w = decay_of(time_decay.value()),
           .u = time_first.value()};
  call.forward(nullptr);
  Array y = call.y;
  return record(
      "wkv", std::move(y), {keys, values, time_decay, time_first},
      [call = std::move(call)](const Array& dy, Grads& grads) { call.backward(dy, grads); });
}

Array wkv_step(const Array& keys, const Array& values, const Array& time_decay,
               const Array& time_first, Array& state) {
  check_wkv(keys.shape(), values.shape(), time_decay.shape(), time_first.shape());
  const int64_t batch = keys.dim(0), width = keys.dim(2);
  if (!state) {
    state = Array::zeros({batch, 3, width});
    for (int64_t b = 0; b < batch && !dry_run(); ++b) {
      std::fill_n(state.mutable_data() + (b * 3 + 2) * width, width, minus_infinity);
    }
  }
  require(state.shape() == Shape{batch, 3, width}, "wkv: expected a state ", Shape{batch, 3, width},
          ", got ", state.shape());
  Wkv call{.batch = batch,
           .tokens = keys.dim(1),
           .width = width,
           .k = keys,
           .v = values,
           .w = decay_of(time_decay),
           .u = time_first};
  call.forward(state.mutable_data());
  return call.y;
}

}  // namespace heed
