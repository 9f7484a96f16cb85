#include "layers/extras/recurrent/scan/wkv.h"

#include <utility>

#include "autograd/base/elementary.h"
#include "autograd/kernels/row_math.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/concat.h"
#include "autograd/ops/exp.h"
#include "autograd/ops/slice.h"
#include "autograd/ops/where.h"

namespace heed {

namespace {

// e^80 is already the loss of everything within one token, and e^89 is too large for float32.
constexpr real largest_decay = 80;

void check_wkv(const Shape& keys, const Shape& values, const Shape& decay, const Shape& first) {
  require(keys.rank() == 3 && values == keys && decay == Shape{keys[2]} && first == decay,
          "wkv: expected keys and values (B, T, d), time_decay and time_first (d), got ", keys,
          ", ", values, ", ", decay, " and ", first);
}

// As std::max, but by value: a choice between addresses would keep a loop from being vectorised.
real larger(real a, real b) { return a > b ? a : b; }

// w (d) = -e^time_decay
Tensor decay_of(const Tensor& time_decay) {
  const Mask fits = map<uint8_t>(time_decay.value(), [](real x) { return !(x > largest_decay); });
  return -exp(where(fits, time_decay, largest_decay));
}

// The state before the first token: nothing, with weight 0.
Array no_state(int64_t batch, int64_t width) {
  const Tensor zeros(Array::zeros({batch, 2, width}));
  const Tensor lowest(Array::full({batch, 1, width}, minus_infinity));
  return concat({zeros, lowest}, 1).value();
}

// body(b, t, row) for the tokens of each sequence b, in order or from the last one to the first.
// The numbers of the token begin at `row` in arrays (B, T, d).
template <class Body>
void for_tokens(const Shape& shape, bool backwards, Body&& body) {
  const int64_t tokens = shape[1], d = shape[2];
  parallel_each(shape[0], 1, [&](int64_t b) {
    for (int64_t n = 0; n < tokens; ++n) {
      const int64_t t = backwards ? tokens - 1 - n : n;
      body(b, t, (b * tokens + t) * d);
    }
  });
}

// Arrays (B, T, d) that no gradient goes through.
struct Scales {
  Array after;  // p_t
  Array fade;   // p_(t-1) - p_t
  Array top;    // m_t = max(p_(t-1), u + k_t), the largest exponent in y_t
  Array past;   // e^(p_(t-1) - m_t)

  Scales(const Array& first, const Array& keys, const Array& w, const Array& u)
      : after(Array::uninitialised(keys.shape())),
        fade(Array::uninitialised(keys.shape())),
        top(Array::uninitialised(keys.shape())),
        past(Array::uninitialised(keys.shape())) {
    for_tokens(
        keys.shape(), false,
        [d = keys.dim(2), from = first.data(), key = keys.data(), decay = w.data(),
         bonus = u.data(), p = after.mutable_data(), drop = fade.mutable_data(),
         m = top.mutable_data(), weight = past.mutable_data()](int64_t b, int64_t t, int64_t row) {
          const real* const before = t > 0 ? p + row - d : from + (3 * b + 2) * d;
          const real* const k = key + row;
#pragma omp simd
          for (int64_t i = 0; i < d; ++i) {
            const real q = larger(before[i] + decay[i], k[i]);
            const real n = larger(before[i], bonus[i] + k[i]);
            p[row + i] = q;
            drop[row + i] = before[i] - q;
            m[row + i] = n;
            weight[row + i] = exp_of(before[i] - n);
          }
        });
  }
};

// y_t = (past_t a_(t-1) + now_t v_t) / (past_t b_(t-1) + now_t) (B, T, d), where
//   a_t = kept_t a_(t-1) + added_t v_t,   b_t = kept_t b_(t-1) + added_t,   a_0 and b_0 in `first`
// The backward runs from the last token to the first. With r_t = dy_t / (past_t b_(t-1) + now_t):
//   dnow_t = r_t (v_t - y_t),   dv_t = r_t now_t + added_t da_t
//   dadded_t = v_t da_t + db_t,   dkept_t = a_(t-1) da_t + b_(t-1) db_t
//   da_(t-1) = kept_t da_t + past_t r_t,   db_(t-1) = kept_t db_t - past_t r_t y_t
struct Mean {
  Array first, past, kept, added, now, v;
  Array y = Array::uninitialised(v.shape()), a = Array::uninitialised(v.shape()),
        b = Array::uninitialised(v.shape());

  // Row t - 1 of `sums`, which is row `at` of `first` before the first token.
  const real* before(const Array& sums, int64_t sequence, int64_t at, int64_t t,
                     int64_t row) const {
    const int64_t d = v.dim(2);
    return t > 0 ? sums.data() + row - d : first.data() + (3 * sequence + at) * d;
  }
  void forward();
  void backward(const Array& dy, Grads& grads) const;
};

void Mean::forward() {
  for_tokens(v.shape(), false,
             [this, d = v.dim(2), to_y = y.mutable_data(), to_a = a.mutable_data(),
              to_b = b.mutable_data()](int64_t sequence, int64_t t, int64_t row) {
               const real *const a_before = before(a, sequence, 0, t, row), *const b_before =
                                                                                before(b, sequence,
                                                                                       1, t, row);
               const real *const p = past.data() + row, *const k = kept.data() + row;
               const real *const s = added.data() + row, *const n = now.data() + row;
               const real* const x = v.data() + row;
#pragma omp simd
               for (int64_t i = 0; i < d; ++i) {
                 to_y[row + i] = (p[i] * a_before[i] + n[i] * x[i]) / (p[i] * b_before[i] + n[i]);
                 to_a[row + i] = k[i] * a_before[i] + s[i] * x[i];
                 to_b[row + i] = k[i] * b_before[i] + s[i];
               }
             });
}

void Mean::backward(const Array& dy, Grads& grads) const {
  const int64_t d = v.dim(2);
  Array dkept = Array::uninitialised(v.shape()), dadded = Array::uninitialised(v.shape());
  Array dnow = Array::uninitialised(v.shape()), dv = Array::uninitialised(v.shape());
  Array slopes = Array::zeros({v.dim(0), 2, d});  // da_t and db_t
  for_tokens(
      v.shape(), true,
      [=, this, from = dy.data(), to_kept = dkept.mutable_data(), to_added = dadded.mutable_data(),
       to_now = dnow.mutable_data(), to_v = dv.mutable_data(),
       slope = slopes.mutable_data()](int64_t sequence, int64_t t, int64_t row) {
        const real *const a_before = before(a, sequence, 0, t, row), *const b_before = before(
                                                                         b, sequence, 1, t, row);
        const real *const p = past.data() + row, *const k = kept.data() + row;
        const real *const s = added.data() + row, *const n = now.data() + row;
        const real *const x = v.data() + row, *const out = y.data() + row;
        real *const da = slope + 2 * sequence * d, *const db = da + d;
#pragma omp simd
        for (int64_t i = 0; i < d; ++i) {
          const real r = from[row + i] / (p[i] * b_before[i] + n[i]);
          to_now[row + i] = r * (x[i] - out[i]);
          to_v[row + i] = r * n[i] + da[i] * s[i];
          to_added[row + i] = da[i] * x[i] + db[i];
          to_kept[row + i] = da[i] * a_before[i] + db[i] * b_before[i];
          da[i] = k[i] * da[i] + r * p[i];
          db[i] = k[i] * db[i] - r * p[i] * out[i];
        }
      });
  if (grads.needs(0)) grads.add(0, std::move(dkept));
  if (grads.needs(1)) grads.add(1, std::move(dadded));
  if (grads.needs(2)) grads.add(2, std::move(dnow));
  if (grads.needs(3)) grads.add(3, std::move(dv));
}

}  // namespace

Tensor wkv(const Tensor& keys, const Tensor& values, const Tensor& time_decay,
           const Tensor& time_first, Array* state) {
  check_wkv(keys.shape(), values.shape(), time_decay.shape(), time_first.shape());
  const int64_t batch = keys.dim(0), tokens = keys.dim(1), width = keys.dim(2);
  const Array first = state != nullptr && *state ? *state : no_state(batch, width);
  require(first.shape() == Shape{batch, 3, width}, "wkv: expected a state ", Shape{batch, 3, width},
          ", got ", first.shape());
  const Tensor w = decay_of(time_decay);
  const Scales p(first, keys.value(), w.value(), time_first.value());
  const Tensor kept = exp(w + Tensor(p.fade)), added = exp(keys - Tensor(p.after));
  const Tensor now = exp(keys + time_first - Tensor(p.top));
  Mean mean{first, p.past, kept.value(), added.value(), now.value(), values.value()};
  mean.forward();
  if (state != nullptr) {
    const auto last = [&](const Array& x) { return slice(Tensor(x), 1, tokens - 1, tokens); };
    *state = concat({last(mean.a), last(mean.b), last(p.after)}, 1).value();
  }
  Array y = mean.y;
  return record(
      "wkv", std::move(y), {kept, added, now, values},
      [mean = std::move(mean)](const Array& dy, Grads& grads) { mean.backward(dy, grads); });
}

}  // namespace heed
