#include "autograd/kernels/tiled_attention.h"

#include <algorithm>
#include <vector>

#include "autograd/kernels/openblas.h"
#include "autograd/kernels/row_math.h"
#include "autograd/kernels/vector_math.h"
#include "autograd/threads/parallel.h"

namespace heed::detail {

namespace {

// Long enough for OpenBLAS to run at its speed, short enough that causality hides little of a tile.
constexpr int64_t tile_rows = 128;

// `size` numbers of this thread, in one of two places. Not from the pool: loop bodies ask for it.
real* scratch(int which, int64_t size) {
  thread_local std::vector<real> memory[2];
  std::vector<real>& place = memory[which];
  place.resize(std::max(place.size(), static_cast<size_t>(size)));
  return place.data();
}

// Queries [first, first + rows) of head h of item b against the n keys that causality leaves them.
struct Tile {
  const AttentionProblem& p;
  const AttentionInputs& in;
  int64_t b, h, first, rows, n;

  Tile(const AttentionProblem& problem, const AttentionInputs& inputs, int64_t item, int64_t head,
       int64_t number)
      : p(problem),
        in(inputs),
        b(item),
        h(head),
        first(number * tile_rows),
        rows(std::min(tile_rows, p.queries - first)),
        n(p.visible(first + rows - 1)) {}

  int64_t row(int64_t r) const {
    return (b * p.heads + h) * p.queries + first + r;
  }  // of (B, H, T)
  const real* q() const { return in.q.at(b, h, first); }
  const real* k() const { return in.k.at(b, p.kv_head(h), 0); }
  const real* v() const { return in.v.at(b, p.kv_head(h), 0); }

  // (rows, n) = scale Q K^T, -infinity where a query may not attend.
  void scores(real* s) const {
    openblas_multiply(
        {Trans::no, Trans::yes, rows, n, p.width, p.scale, q(), in.q.row, k(), in.k.row, 0, s, n});
    for (int64_t r = 0; r < rows; ++r) {
      real* const row_scores = s + r * n;
      std::fill(row_scores + std::min(n, p.visible(first + r)), row_scores + n, minus_infinity);
      if (p.mask) {
        const uint8_t* const may = p.mask_row(b, h, first + r);
        for (int64_t j = 0; j < n; ++j) {
          row_scores[j] = may[j] != 0 ? row_scores[j] : minus_infinity;
        }
      }
    }
  }

  // s (rows, n) = P, from the statistics of a forward pass.
  void weights(const AttentionStatistics& statistics, real* s) const {
    scores(s);
    for (int64_t r = 0; r < rows; ++r) {
      const real largest = statistics.largest.data()[row(r)];
      const real inverse = statistics.inverse_sum.data()[row(r)];
      real* const x = s + r * n;
      vector_map(x, x, n, [=](real score) { return inverse * exp_of(score - largest); });
    }
  }

  // x (rows, n) *= the dropout mask.
  void drop(real* x) const {
    for (int64_t r = 0; r < rows && !p.dropout.is_identity(); ++r) {
      p.dropout.multiply(row(r) * p.keys, n, x + r * n, x + r * n);
    }
  }
};

int64_t tiles_of(const AttentionProblem& p) { return (p.queries + tile_rows - 1) / tile_rows; }

// body(tile, its number within its head) for all tiles of all heads, each on one thread.
template <class Body>
void for_each_tile(const AttentionProblem& p, const AttentionInputs& in, Body&& body) {
  const int64_t tiles = tiles_of(p);
  parallel_for(p.batch * p.heads * tiles, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t head = i / tiles;
      body(Tile(p, in, head / p.heads, head % p.heads, i % tiles));
    }
  });
}

bool takes(const AttentionProblem&, bool) { return true; }

bool forward(const AttentionProblem& p, const AttentionInputs& in, real* y,
             AttentionStatistics& statistics) {
  real* const largest = statistics.largest.mutable_data();
  real* const inverse_sum = statistics.inverse_sum.mutable_data();
  const int64_t columns = p.heads * p.value_width;
  for_each_tile(p, in, [&](const Tile& t) {
    real* const s = scratch(0, t.rows * t.n);
    t.scores(s);
    for (int64_t r = 0; r < t.rows; ++r) {
      real* const x = s + r * t.n;
      const real top = row_max(x, t.n);
      const bool empty = row_is_masked(x, t.n, top);
      const real sum = empty ? 0 : row_sum_exp(x, t.n, top);
      const real inverse = empty ? 0 : 1 / sum, shift = empty ? 0 : top;
      largest[t.row(r)] = shift;
      inverse_sum[t.row(r)] = inverse;
      vector_map(x, x, t.n, [=](real score) { return inverse * exp_of(score - shift); });
    }
    t.drop(s);
    openblas_multiply({Trans::no, Trans::no, t.rows, p.value_width, t.n, 1, s,
                       std::max<int64_t>(t.n, 1), t.v(), in.v.row, 0,
                       y + (t.b * p.queries + t.first) * columns + t.h * p.value_width, columns});
  });
  return true;
}

void weights(const AttentionProblem& p, const AttentionInputs& in,
             const AttentionStatistics& statistics, real* out) {
  for_each_tile(p, in, [&](const Tile& t) {
    real* const s = scratch(0, t.rows * t.n);
    t.weights(statistics, s);
    for (int64_t r = 0; r < t.rows; ++r) {
      real* const to = out + t.row(r) * p.keys;
      std::fill(std::copy_n(s + r * t.n, t.n, to), to + p.keys, real{0});
    }
  });
}

// The first addition to a gradient that is not added to what is there begins with zeros.
void clear(const GradientRows& to, int64_t b, int64_t head, int64_t rows) {
  for (int64_t i = 0; i < rows && to.rows.data != nullptr && !to.add; ++i) {
    std::fill_n(to.rows.at(b, head, i), to.rows.width, real{0});
  }
}

// dQ of the tile, and its share of dK and dV.
void backward_tile(const Tile& t, const AttentionStatistics& statistics, const real* dy,
                   const AttentionGradients& out) {
  const AttentionProblem& p = t.p;
  const int64_t columns = p.heads * p.value_width, n = t.n, kv = p.kv_head(t.h);
  const int64_t at = (t.b * p.queries + t.first) * columns + t.h * p.value_width;
  real* const weights = scratch(0, t.rows * n);
  real* const slopes = scratch(1, t.rows * n);  // M * (dY V^T), then dS
  t.weights(statistics, weights);
  openblas_multiply({Trans::no, Trans::yes, t.rows, n, p.value_width, 1, dy + at, columns, t.v(),
                     t.in.v.row, 0, slopes, n});
  t.drop(slopes);
  for (int64_t r = 0; r < t.rows; ++r) {
    real* const slope = slopes + r * n;
    const real* const weight = weights + r * n;
    real dot = 0;  // y_i . dY_i; as this sum it is exact where one key has all the weight
#pragma omp simd reduction(+ : dot)
    for (int64_t j = 0; j < n; ++j) {
      dot += weight[j] * slope[j];
    }
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) {
      slope[j] = weight[j] * (slope[j] - dot);
    }
  }
  if (out.dv.rows.data != nullptr) {
    t.drop(weights);
    openblas_multiply({Trans::yes, Trans::no, n, p.value_width, t.rows, 1, weights, n, dy + at,
                       columns, 1, out.dv.rows.at(t.b, kv, 0), out.dv.rows.row});
  }
  if (out.dk.rows.data != nullptr) {
    openblas_multiply({Trans::yes, Trans::no, n, p.width, t.rows, p.scale, slopes, n, t.q(),
                       t.in.q.row, 1, out.dk.rows.at(t.b, kv, 0), out.dk.rows.row});
  }
  if (out.dq.rows.data != nullptr) {
    openblas_multiply({Trans::no, Trans::no, t.rows, p.width, n, p.scale, slopes,
                       std::max<int64_t>(n, 1), t.k(), t.in.k.row, out.dq.add ? real{1} : real{0},
                       out.dq.rows.at(t.b, t.h, t.first), out.dq.rows.row});
  }
}

// The heads of queries that share a head of keys are one thread's: all of them add to its dK and
// dV, always in the same order.
void backward(const AttentionProblem& p, const AttentionInputs& in,
              const AttentionStatistics& statistics, const real* /*y*/, const real* dy,
              const AttentionGradients& out) {
  const int64_t group = p.heads / p.kv_heads;
  parallel_for(p.batch * p.kv_heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t b = i / p.kv_heads, kv = i % p.kv_heads;
      clear(out.dk, b, kv, p.keys);
      clear(out.dv, b, kv, p.keys);
      for (int64_t h = kv * group; h < (kv + 1) * group; ++h) {
        for (int64_t number = 0; number < tiles_of(p); ++number) {
          backward_tile(Tile(p, in, b, h, number), statistics, dy, out);
        }
      }
    }
  });
}

}  // namespace

const AttentionKernel tiled_attention{takes, forward, weights, backward};

}  // namespace heed::detail
