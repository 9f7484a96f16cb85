#include "autograd/ops/norm.h"

#include <atomic>
#include <cmath>

#include "autograd/base/sum.h"
namespace heed::detail {

namespace {

struct NormSaved {
  Norm kind;
  Array x, scale;   // (..., n), (n)
  Array row_stats;  // (N, 2): m and rstd of every row
  real eps = 0;
};

template <class Number>
struct NormStats {
  Number mean, rstd;
};

// m and rstd of a row, in two passes: the mean, then the squares about it. One pass over x and x^2
// would cancel where the mean is large.
template <class Number>
NormStats<Number> norm_stats_of(Norm kind, const real* x, int64_t n, real eps) {
  Number mean = 0;
  if (kind == Norm::layer) {
    mean =
        sum_of(0, n, [x](int64_t i) { return static_cast<Number>(x[i]); }) / static_cast<Number>(n);
  }
  const Number squares = sum_of(0, n, [x, mean](int64_t i) {
    const Number centred = static_cast<Number>(x[i]) - mean;
    return centred * centred;
  });
  return {mean, 1 / std::sqrt(squares / static_cast<Number>(n) + static_cast<Number>(eps))};
}

// What a backward reads: NormSaved as pointers.
struct NormRows {
  Norm kind;
  int64_t n;
  const real *x, *scale, *stats;
  real eps;
};

// dx of one row, stored or added. Two passes over the row: the sums of g and g h, then the
// elements.
template <class Number>
void put_row_gradient(const NormRows& saved, const NormStats<Number>& stats, int64_t r,
                      const real* dy, Grads::Target to) {
  const int64_t n = saved.n;
  const real *x = saved.x + r * n, *scale = saved.scale;
  const auto g = [=](int64_t i) {
    return static_cast<Number>(dy[i]) * static_cast<Number>(scale[i]);
  };
  const auto h = [=](int64_t i) { return (static_cast<Number>(x[i]) - stats.mean) * stats.rstd; };
  const Number mean_g =
      saved.kind == Norm::layer ? sum_of(0, n, g) / static_cast<Number>(n) : Number{0};
  const Number mean_gh =
      sum_of(0, n, [=](int64_t i) { return g(i) * h(i); }) / static_cast<Number>(n);
  real* dx = to.data + r * n;
  const auto slope = [=](int64_t i) {
    return static_cast<real>(stats.rstd * (g(i) - mean_g - h(i) * mean_gh));
  };
  if (to.add) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) dx[i] += slope(i);
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) dx[i] = slope(i);
  }
}

void norm_row_backward(const NormRows& saved, int64_t r, const real* dy, Grads::Target to) {
  // In a short row g - mean g and h mean(g h) nearly cancel: for two elements only a fraction
  // eps / variance of them is left. Float32 has no digits for it, so short rows use double.
  constexpr int64_t short_row = 8;
  const int64_t n = saved.n;
  if (saved.kind == Norm::layer && n == 1) {  // y is the shift for any x, so dx = 0
    if (!to.add) to.data[r] = 0;
  } else if (n <= short_row) {
    const real* x = saved.x + r * n;
    put_row_gradient(saved, norm_stats_of<double>(saved.kind, x, n, saved.eps), r, dy, to);
  } else {
    const real* stats = saved.stats + 2 * r;
    put_row_gradient(saved, NormStats<real>{stats[0], stats[1]}, r, dy, to);
  }
}

// The part of one row in the sums over rows: dscale += dy h, dshift += dy.
void add_row_to_sums(const NormRows& saved, int64_t r, const real* dy, real* dscale, real* dshift) {
  const int64_t n = saved.n;
  const real* x = saved.x + r * n;
  const real mean = saved.stats[2 * r], rstd = saved.stats[2 * r + 1];
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    dscale[i] += dy[i] * ((x[i] - mean) * rstd);
    dshift[i] += dy[i];
  }
}

// Adds the partial sums of all chunks, in their order, to a gradient (n). sums (chunks, 2, n):
// dscale is `which` 0, dshift is 1.
void add_sums(const real* sums, int64_t which, int64_t chunks, int64_t n, Grads::Target to) {
  for (int64_t i = 0; i < n && to.data != nullptr; ++i) {
    double total = 0;
    for (int64_t c = 0; c < chunks; ++c) {
      total += static_cast<double>(sums[(2 * c + which) * n + i]);
    }
    to.data[i] = static_cast<real>(total) + (to.add ? to.data[i] : 0);
  }
}

// Returns y, and fills `saved` for the backward. `shift` may be no array.
Array norm_forward(Norm kind, const Array& x, const Array& scale, const Array& shift, double eps,
                   NormSaved& saved) {
  const Rows rows = rows_of(x.shape());
  saved = {kind, x, scale, Array::uninitialised({rows.count, 2}), static_cast<real>(eps)};
  Array y = Array::uninitialised(x.shape());
  const real *in = x.data(), *a = scale.data(), *b = shift ? shift.data() : nullptr;
  real *out = y.mutable_data(), *stats = saved.row_stats.mutable_data();
  parallel_for(rows.count, row_grain(rows.width), [=, eps = saved.eps](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const real* row = in + r * rows.width;
      real* to = out + r * rows.width;
      const auto row_stats = norm_stats_of<real>(kind, row, rows.width, eps);
      const real mean = row_stats.mean, rstd = row_stats.rstd;
      stats[2 * r] = mean;
      stats[2 * r + 1] = rstd;
      if (b != nullptr) {
#pragma omp simd
        for (int64_t i = 0; i < rows.width; ++i) to[i] = (row[i] - mean) * rstd * a[i] + b[i];
      } else {
#pragma omp simd
        for (int64_t i = 0; i < rows.width; ++i) to[i] = (row[i] - mean) * rstd * a[i];
      }
    }
  });
  return y;
}

// Adds dx, dscale and dshift to gradients 0, 1 and 2.
void norm_backward(const NormSaved& saved, const Array& dy, Grads& grads) {
  const Rows rows = rows_of(saved.x.shape());
  const NormRows read{
      saved.kind, rows.width, saved.x.data(), saved.scale.data(), saved.row_stats.data(),
      saved.eps};
  const bool wants_x = grads.needs(0), wants_sums = grads.needs(1) || grads.needs(2);
  // One pass over x and dy for all three gradients. Each chunk of rows has its own partial sums.
  // There are at most 64 chunks, so that the partial sums are small compared with x.
  const int64_t grain = std::max(row_grain(rows.width, sum_grain), (rows.count + 63) / 64);
  const int64_t chunks = wants_sums ? (rows.count + grain - 1) / grain : 0;
  Array sums = Array::zeros({chunks, 2, rows.width});
  const Grads::Target dx = grads.target_if_needed(0), dscale = grads.target_if_needed(1),
                      dshift = grads.target_if_needed(2);
  const real* g = dy.data();
  real* sum = sums.mutable_data();
  const auto finish = [=, n = rows.width] {
    add_sums(sum, 0, chunks, n, dscale);
    add_sums(sum, 1, chunks, n, dshift);
  };
  std::atomic<int64_t> chunks_left = chunks;
  parallel_for(rows.count, grain, [&, g, sum](int64_t begin, int64_t end) {
    real* part = sum + begin / grain * 2 * rows.width;
    for (int64_t r = begin; r < end; ++r) {
      const real* row = g + r * rows.width;
      if (wants_x) norm_row_backward(read, r, row, dx);
      if (wants_sums) add_row_to_sums(read, r, row, part, part + rows.width);
    }
    if (--chunks_left == 0) finish();
  });
  if (rows.count == 0 && !dry_run()) finish();
}

}  // namespace

void check_norm(const char* op, const Tensor& x, const Tensor& scale, const Tensor& shift,
                double eps) {
  require(x.rank() >= 1 && x.dim(-1) >= 1, op, ": expected x (..., n >= 1), got ", x.shape());
  const Shape row{x.dim(-1)};
  require(scale.shape() == row, op, ": expected scale ", row, " for x ", x.shape(), ", got ",
          scale.shape());
  require(!shift || shift.shape() == row, op, ": expected shift ", row, " for x ", x.shape(),
          ", got ", shift.shape());
  require(eps >= 0, op, ": expected eps >= 0, got ", eps);
}

Tensor fused_norm(const char* op, Norm kind, const Tensor& x, const Tensor& scale,
                  const Tensor& shift, double eps) {
  NormSaved saved;
  Array y = norm_forward(kind, x.value(), scale.value(), shift.value(), eps, saved);
  return record(op, std::move(y), {x, scale, shift},
                [saved = std::move(saved)](const Array& dy, Grads& grads) {
                  norm_backward(saved, dy, grads);
                });
}

}  // namespace heed::detail
