// Checks single-threaded matrix products against a loop in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "autograd/kernels/product.h"
#include "autograd/random/fills.h"
#include "autograd/random/generator.h"
#include "tests/support/near.h"

namespace heed::testing {

using detail::Product;

inline constexpr int64_t row_gap = 3;  // unused numbers after each row

struct Matrix {
  Matrix(int64_t rows, int64_t columns, heed::Generator& g) : step(columns + row_gap) {
    numbers.resize(static_cast<size_t>(rows * step));
    heed::fill_uniform(g, numbers, -1, 1);
  }
  double at(Trans t, int64_t i, int64_t j) const {
    return static_cast<double>(
        numbers[static_cast<size_t>(t == Trans::no ? i * step + j : j * step + i)]);
  }
  int64_t step;
  std::vector<real> numbers;
};

struct ProductSize {
  int64_t m, n, k;
};

// The factors of op(A) (m, k) and op(B) (k, n) with numbers from -1 to 1, and C.
struct Factors {
  Factors(Trans ta, Trans tb, ProductSize s)
      : g(static_cast<uint64_t>(s.m + 100 * s.n + 10000 * s.k)),
        a(ta == Trans::no ? Matrix(s.m, s.k, g) : Matrix(s.k, s.m, g)),
        b(tb == Trans::no ? Matrix(s.k, s.n, g) : Matrix(s.n, s.k, g)),
        c(s.m, s.n, g) {}
  heed::Generator g;
  Matrix a, b, c;
};

// The largest error of one product, compared with a loop in double. Includes the gaps between the
// rows of C, which must not change.
inline double largest_error(const std::function<void(const Product&)>& gemm, Trans ta, Trans tb,
                            ProductSize size, real alpha, real beta) {
  Factors f(ta, tb, size);
  const Matrix before = f.c;
  if (beta == 0) {
    for (int64_t i = 0; i < size.m; ++i) {
      std::fill_n(f.c.numbers.begin() + i * f.c.step, size.n, not_a_number);
    }
  }
  gemm({ta, tb, size.m, size.n, size.k, alpha, f.a.numbers.data(), f.a.step, f.b.numbers.data(),
        f.b.step, beta, f.c.numbers.data(), f.c.step});
  double largest = 0;
  for (int64_t i = 0; i < size.m; ++i) {
    for (int64_t j = 0; j < f.c.step; ++j) {
      double want = before.at(Trans::no, i, j);
      if (j < size.n) {
        want *= static_cast<double>(beta);
        for (int64_t l = 0; l < size.k; ++l) {
          want += static_cast<double>(alpha) * f.a.at(ta, i, l) * f.b.at(tb, l, j);
        }
      }
      const double error = std::abs(f.c.at(Trans::no, i, j) - want);
      largest = error <= largest ? largest : error;  // keeps a NaN
    }
  }
  return largest;
}

// Checks all four transpositions of each size, for beta 0 and 1. The tolerance is the rounding
// error of a sum of k products in `real`.
template <size_t count>
void check_products(const std::function<void(const Product&)>& gemm,
                    const ProductSize (&sizes)[count], real alpha_of_added) {
  const double unit = static_cast<double>(std::numeric_limits<real>::epsilon());
  for (const ProductSize size : sizes) {
    for (const Trans ta : {Trans::no, Trans::yes}) {
      for (const Trans tb : {Trans::no, Trans::yes}) {
        for (const real beta : {real{0}, real{1}}) {
          CAPTURE(size.m);
          CAPTURE(size.n);
          CAPTURE(size.k);
          const real alpha = beta == 0 ? real{1} : alpha_of_added;
          const double error = largest_error(gemm, ta, tb, size, alpha, beta);
          CHECK(error <= unit * static_cast<double>(size.k + 4));
        }
      }
    }
  }
}

}  // namespace heed::testing
