#include "autograd/packed_gemm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "autograd/random.h"
#include "tests/support/near.h"

using namespace heed;
using heed::detail::Product;
using testing::not_a_number;

namespace {

constexpr int64_t gap = 3;  // between rows

struct Matrix {
  Matrix(int64_t rows, int64_t columns, Generator& g) : step(columns + gap) {
    numbers.resize(static_cast<size_t>(rows * step));
    fill_uniform(g, numbers, -1, 1);
  }
  double at(Trans t, int64_t i, int64_t j) const {
    return static_cast<double>(
        numbers[static_cast<size_t>(t == Trans::no ? i * step + j : j * step + i)]);
  }
  int64_t step;
  std::vector<real> numbers;
};

// The largest difference to a loop in double, of one product of that size.
double largest_error(Trans ta, Trans tb, int64_t m, int64_t n, int64_t k, real alpha, real beta) {
  Generator g(static_cast<uint64_t>(m + 100 * n + 10000 * k));
  const Matrix a = ta == Trans::no ? Matrix(m, k, g) : Matrix(k, m, g);
  const Matrix b = tb == Trans::no ? Matrix(k, n, g) : Matrix(n, k, g);
  Matrix c(m, n, g);
  const Matrix before = c;
  if (beta == 0) {
    for (int64_t i = 0; i < m; ++i) {
      std::fill_n(c.numbers.begin() + i * c.step, n, not_a_number);
    }
  }
  detail::packed_gemm({ta, tb, m, n, k, alpha, a.numbers.data(), a.step, b.numbers.data(), b.step,
                       beta, c.numbers.data(), c.step});
  double largest = 0;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < c.step; ++j) {
      double want = before.at(Trans::no, i, j);
      if (j < n) {
        want *= static_cast<double>(beta);
        for (int64_t l = 0; l < k; ++l) {
          want += static_cast<double>(alpha) * a.at(ta, i, l) * b.at(tb, l, j);
        }
      }
      const double error = std::abs(c.at(Trans::no, i, j) - want);
      largest = error <= largest ? largest : error;  // NaN stays
    }
  }
  return largest;
}

}  // namespace

TEST_CASE("packed gemm: every shape of tile, whole pieces and their rests") {
  struct Size {
    int64_t m, n, k;
  };
  const double unit = static_cast<double>(std::numeric_limits<real>::epsilon());
  for (const Size size :
       {Size{1, 1, 1}, Size{6, 64, 16}, Size{5, 63, 15}, Size{7, 65, 17}, Size{13, 33, 128},
        Size{24, 96, 129}, Size{259, 20, 40}, Size{40, 385, 30}, Size{260, 390, 300}}) {
    for (const Trans ta : {Trans::no, Trans::yes}) {
      for (const Trans tb : {Trans::no, Trans::yes}) {
        for (const real beta : {real{0}, real{1}}) {
          CAPTURE(size.m);
          CAPTURE(size.n);
          CAPTURE(size.k);
          const real alpha = beta == 0 ? real{1} : real{-0.5};
          const double error = largest_error(ta, tb, size.m, size.n, size.k, alpha, beta);
          CHECK(error <= unit * static_cast<double>(size.k + 4));
        }
      }
    }
  }
}
