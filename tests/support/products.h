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

// A matrix of numbers from -1 to 1, or the transpose of what is in memory. There is a gap behind
// each row in memory.
struct Numbers {
  Numbers(int64_t rows, int64_t columns, heed::Generator& g, Trans trans = Trans::no)
      : t(trans),
        rows_in_memory(t == Trans::no ? rows : columns),
        row_length(t == Trans::no ? columns : rows),
        step(row_length + row_gap),
        numbers(static_cast<size_t>(rows_in_memory * step)) {
    heed::fill_uniform(g, numbers, -1, 1);
  }

  Matrix view() { return Matrix(numbers.data(), rows_in_memory, row_length, step).transposed(t); }
  ConstMatrix view() const {
    return ConstMatrix(numbers.data(), rows_in_memory, row_length, step).transposed(t);
  }
  double at(int64_t i, int64_t j) const {
    return static_cast<double>(
        numbers[static_cast<size_t>(t == Trans::no ? i * step + j : j * step + i)]);
  }

  Trans t;
  int64_t rows_in_memory, row_length, step;
  std::vector<real> numbers;
};

struct ProductSize {
  int64_t m, n, k;
};

// The factors A (m, k) and B (k, n), transposed views or not, and C.
struct Factors {
  Factors(Trans ta, Trans tb, ProductSize s)
      : g(static_cast<uint64_t>(s.m + 100 * s.n + 10000 * s.k)),
        a(s.m, s.k, g, ta),
        b(s.k, s.n, g, tb),
        c(s.m, s.n, g) {}
  heed::Generator g;
  Numbers a, b, c;
};

// The largest error of one product, compared with a loop in double. Includes the gaps between the
// rows of C, which must not change.
inline double largest_error(const std::function<void(const Product&)>& gemm, Trans ta, Trans tb,
                            ProductSize size, bool add) {
  Factors f(ta, tb, size);
  const Numbers before = f.c;
  if (!add) {
    for (int64_t i = 0; i < size.m; ++i) {
      std::fill_n(f.c.numbers.begin() + i * f.c.step, size.n, not_a_number);
    }
  }
  gemm({f.a.view(), f.b.view(), f.c.view(), add});
  double largest = 0;
  for (int64_t i = 0; i < size.m; ++i) {
    for (int64_t j = 0; j < f.c.step; ++j) {
      double want = j < size.n && !add ? 0 : before.at(i, j);
      for (int64_t l = 0; j < size.n && l < size.k; ++l) {
        want += f.a.at(i, l) * f.b.at(l, j);
      }
      const double error = std::abs(f.c.at(i, j) - want);
      largest = error <= largest ? largest : error;  // keeps a NaN
    }
  }
  return largest;
}

// Checks all four transpositions of each size, into C and added to it. The tolerance is the
// rounding error of a sum of k products in `real`.
template <size_t count>
void check_products(const std::function<void(const Product&)>& gemm,
                    const ProductSize (&sizes)[count]) {
  const double unit = static_cast<double>(std::numeric_limits<real>::epsilon());
  for (const ProductSize size : sizes) {
    for (const Trans ta : {Trans::no, Trans::yes}) {
      for (const Trans tb : {Trans::no, Trans::yes}) {
        for (const bool add : {false, true}) {
          CAPTURE(size.m);
          CAPTURE(size.n);
          CAPTURE(size.k);
          const double error = largest_error(gemm, ta, tb, size, add);
          CHECK(error <= unit * static_cast<double>(size.k + 4));
        }
      }
    }
  }
}

}  // namespace heed::testing
