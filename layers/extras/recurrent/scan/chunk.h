// What linearized_attention computes a chunk of one head with: loops over its numbers, the sums
// that go from chunk to chunk, and scratch memory. linearized_attention.h has the equations.
#pragma once

#include <algorithm>
#include <vector>

#include "autograd/kernels/row_math.h"
#include "autograd/op.h"

namespace heed::scan {

// Long enough for matrix products to run at their speed. Within a chunk the work for a token is
// proportional to its length, before it to the width of a head.
inline constexpr int64_t chunk_length = 64;

// y[i] = phi(x[i])
inline void phi(const real* x, int64_t n, real* y) {
  vector_map(x, y, n, [](real v) { return (v > 0 ? v : 0) + exp_of(v > 0 ? 0 : v); });
}

// dx[i] (+)= slope[i] * phi'(x[i]), given f = phi(x)
inline void phi_backward(const real* f, const real* slope, int64_t n, bool add, real* dx) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const real of_phi = f[i] < 1 ? f[i] : 1;
    dx[i] = (add ? dx[i] : 0) + slope[i] * of_phi;
  }
}

// Adds `plus[r]`, if any, to row r up to the diagonal, and sets what is right of it to 0.
inline void keep_lower_triangle(Matrix a, const real* plus = nullptr) {
  for (int64_t r = 0; r < a.rows(); ++r) {
    real* const row = a.data() + r * a.step();
    for (int64_t i = 0; plus != nullptr && i <= r; ++i) {
      row[i] += plus[r];
    }
    std::fill(row + r + 1, row + a.columns(), real{0});
  }
}

// The sums of a head, S (d, d) or G, and below it z or h (d).
struct Sums {
  real* data;
  int64_t d;

  Matrix matrix() const { return {data, d, d}; }
  real* vector() const { return data + d * d; }
  int64_t size() const { return (d + 1) * d; }

  // Adds sum_r a_r b_r^T to the matrix and sum_r factor[r] a_r to the vector; no factors: all 1.
  void add(ConstMatrix a, ConstMatrix b, const real* factor) const {
    multiply(a.transposed(), b, into(matrix(), true));
    for (int64_t r = 0; r < a.rows(); ++r) {
      add_multiple(factor != nullptr ? factor[r] : 1, a.data() + r * a.step(), d, vector());
    }
  }
};

// What a thread computes a chunk of one head with. Not from the pool, which the bodies of loops
// must not use.
struct Scratch {
  std::vector<real> fq, fk, g, slopes;  // phi(q), phi(k), g (C, d); dphi of either (C, d)
  std::vector<real> a, da;              // (C, C)
  std::vector<real> c;                  // (C)
  std::vector<real> sums;               // (d + 1, d)

  static Scratch& of_thread(int64_t d) {
    thread_local Scratch scratch;
    const auto grow = [](std::vector<real>& buffer, int64_t rows, int64_t columns) {
      buffer.resize(std::max(buffer.size(), static_cast<size_t>(rows * columns)));
    };
    for (auto* const buffer : {&scratch.fq, &scratch.fk, &scratch.g, &scratch.slopes}) {
      grow(*buffer, chunk_length, d);
    }
    grow(scratch.a, chunk_length, chunk_length);
    grow(scratch.da, chunk_length, chunk_length);
    grow(scratch.c, chunk_length, 1);
    grow(scratch.sums, d + 1, d);
    return scratch;
  }
  Sums empty_sums(int64_t d) {
    std::fill_n(sums.data(), (d + 1) * d, real{0});
    return {sums.data(), d};
  }
};

}  // namespace heed::scan
