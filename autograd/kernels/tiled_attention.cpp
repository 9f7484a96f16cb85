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

// Scratch memory of this thread: `size` numbers, in buffer 0, 1 or 2. Not from the pool, which the
// bodies of loops must not use.
real* scratch(int which, int64_t size) {
  thread_local std::vector<real> memory[3];
  std::vector<real>& buffer = memory[which];
  buffer.resize(std::max(buffer.size(), static_cast<size_t>(size)));
  return buffer.data();
}

void product(const Product& p) { openblas_products.multiply(p); }

// Queries [first, first + rows) of head h of item b against the n keys from `begin` that causality
// and a window leave them.
struct Tile {
  const AttentionProblem& p;
  const AttentionInputs& in;
  int64_t b, h, first, rows, begin, n;

  Tile(const AttentionProblem& problem, const AttentionInputs& inputs, int64_t item, int64_t head,
       int64_t number)
      : p(problem),
        in(inputs),
        b(item),
        h(head),
        first(number * tile_rows),
        rows(std::min(tile_rows, p.queries - first)),
        begin(p.first_key(first)),
        n(p.visible(first + rows - 1) - begin) {}

  int64_t row(int64_t r) const {
    return (b * p.heads + h) * p.queries + first + r;
  }  // of (B, H, T)
  ConstMatrix q() const { return {in.q.at(b, h, first), rows, p.width, in.q.row}; }
  ConstMatrix k() const { return {in.k.at(b, p.kv_head(h), begin), n, p.width, in.k.row}; }
  ConstMatrix v() const { return {in.v.at(b, p.kv_head(h), begin), n, p.value_width, in.v.row}; }
  // The tile's part of y or dy, (B, T, H dv).
  template <class T>
  BasicMatrix<T> of_output(T* y) const {
    const int64_t columns = p.heads * p.value_width;
    return {y + (b * p.queries + first) * columns + h * p.value_width, rows, p.value_width,
            columns};
  }

  // (rows, n) = scale Q K^T, -infinity where a query may not attend. bent (rows, n), if not null,
  // becomes the slopes of soft_cap.
  void scores(real* s, real* bent = nullptr) const {
    product({q(), k().transposed(), {s, rows, n}, false, p.scale});
    for (int64_t r = 0; r < rows; ++r) {
      real* const row_scores = s + r * n;
      p.bend_scores(h, first + r, begin, n, row_scores, bent == nullptr ? bent : bent + r * n);
      const auto hide = [&](int64_t from, int64_t to) {  // keys
        std::fill_n(row_scores + from - begin, std::max<int64_t>(0, to - from), minus_infinity);
      };
      hide(std::max(begin, p.sinks), p.first_visible(first + r));
      hide(p.visible(first + r), begin + n);
      if (p.mask) {
        const uint8_t* const may = p.mask_row(b, h, first + r) + begin;
        for (int64_t j = 0; j < n; ++j) {
          row_scores[j] = may[j] != 0 ? row_scores[j] : minus_infinity;
        }
      }
    }
  }

  // s (rows, n) = P, from the statistics of a forward pass.
  void weights(const AttentionStatistics& statistics, real* s, real* bent = nullptr) const {
    scores(s, bent);
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
      p.dropout.multiply(row(r) * p.keys + begin, n, x + r * n, x + r * n);
    }
  }
};

int64_t tiles_of(const AttentionProblem& p) { return (p.queries + tile_rows - 1) / tile_rows; }

// body(tile, its number within its head) for all tiles of all heads, each on one thread.
template <class Body>
void for_each_tile(const AttentionProblem& p, const AttentionInputs& in, Body&& body) {
  const int64_t tiles = tiles_of(p);
  parallel_each(p.batch * p.heads * tiles, 1, [&](int64_t i) {
    const int64_t head = i / tiles;
    body(Tile(p, in, head / p.heads, head % p.heads, i % tiles));
  });
}

void forward(const AttentionProblem& p, const AttentionInputs& in, real* y,
             AttentionStatistics& statistics) {
  real* const largest = statistics.largest.mutable_data();
  real* const inverse_sum = statistics.inverse_sum.mutable_data();
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
    product({Matrix(s, t.rows, t.n), t.v(), t.of_output(y)});
  });
}

void weights(const AttentionProblem& p, const AttentionInputs& in,
             const AttentionStatistics& statistics, real* out) {
  for_each_tile(p, in, [&](const Tile& t) {
    real* const s = scratch(0, t.rows * t.n);
    t.weights(statistics, s);
    for (int64_t r = 0; r < t.rows; ++r) {
      real* const to = out + t.row(r) * p.keys;
      std::fill_n(to, t.begin, real{0});
      std::fill(std::copy_n(s + r * t.n, t.n, to + t.begin), to + p.keys, real{0});
    }
  });
}

// Sets a gradient to 0 before the first addition, unless it is added to what is there.
void clear(const GradientRows& to, int64_t b, int64_t head, int64_t rows) {
  for (int64_t i = 0; i < rows && to.rows.data != nullptr && !to.add; ++i) {
    std::fill_n(to.rows.at(b, head, i), to.rows.width, real{0});
  }
}

// Rows [first, first + rows) of the gradient of one head.
Matrix rows_of_gradient(const GradientRows& g, int64_t b, int64_t head, int64_t first,
                        int64_t rows) {
  return {g.rows.at(b, head, first), rows, g.rows.width, g.rows.row};
}

// Computes dQ of the tile, and adds its share of dK and dV.
void backward_tile(const Tile& t, const AttentionStatistics& statistics, const real* dy,
                   const AttentionGradients& out) {
  const AttentionProblem& p = t.p;
  const int64_t n = t.n, kv = p.kv_head(t.h);
  real* const weights = scratch(0, t.rows * n);
  real* const slopes = scratch(1, t.rows * n);  // M * (dY V^T), then dS
  real* const bent = p.soft_cap > 0 ? scratch(2, t.rows * n) : nullptr;
  const Matrix weight_matrix(weights, t.rows, n), slope_matrix(slopes, t.rows, n);
  const ConstMatrix dy_tile = t.of_output(dy);
  t.weights(statistics, weights, bent);
  product({dy_tile, t.v().transposed(), slope_matrix});
  t.drop(slopes);
  for (int64_t r = 0; r < t.rows; ++r) {
    real* const slope = slopes + r * n;
    const real* const weight = weights + r * n;
    // y_i . dY_i; as this sum it is exact where one key has all the weight
    const real dot = row_dot(weight, slope, n);
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) {
      slope[j] = weight[j] * (slope[j] - dot);
    }
    for (int64_t j = 0; j < n && bent != nullptr; ++j) slope[j] *= bent[r * n + j];
  }
  if (out.dv.rows.data != nullptr) {
    t.drop(weights);
    product(
        {weight_matrix.transposed(), dy_tile, rows_of_gradient(out.dv, t.b, kv, t.begin, n), true});
  }
  if (out.dk.rows.data != nullptr) {
    product({slope_matrix.transposed(), t.q(), rows_of_gradient(out.dk, t.b, kv, t.begin, n), true,
             p.scale});
  }
  if (out.dq.rows.data != nullptr) {
    product({slope_matrix, t.k(), rows_of_gradient(out.dq, t.b, t.h, t.first, t.rows), out.dq.add,
             p.scale});
  }
}

// Query heads that share a key head are computed by one thread: all of them add to dK and dV of the
// key head, always in the same order.
void backward(const AttentionProblem& p, const AttentionInputs& in,
              const AttentionStatistics& statistics, const real* /*y*/, const real* dy,
              const AttentionGradients& out) {
  const int64_t group = p.heads / p.kv_heads;
  parallel_each(p.batch * p.kv_heads, 1, [&](int64_t i) {
    const int64_t b = i / p.kv_heads, kv = i % p.kv_heads;
    clear(out.dk, b, kv, p.keys);
    clear(out.dv, b, kv, p.keys);
    for (int64_t h = kv * group; h < (kv + 1) * group; ++h) {
      for (int64_t number = 0; number < tiles_of(p); ++number) {
        backward_tile(Tile(p, in, b, h, number), statistics, dy, out);
      }
    }
  });
}

}  // namespace

const AttentionKernel tiled_attention{forward, weights, backward};

}  // namespace heed::detail
