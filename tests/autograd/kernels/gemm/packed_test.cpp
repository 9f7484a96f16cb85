#include "autograd/kernels/gemm/packed.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "autograd/random/fills.h"
#include "autograd/random/generator.h"
#include "tests/support/near.h"

using namespace heed;
using heed::testing::not_a_number;

namespace {

constexpr int64_t row_gap = 3;  // unused numbers after each row

// A matrix of numbers from -1 to 1, or the transpose of what is in memory. There is a gap behind
// each row in memory.
struct MatrixWithGaps {
  MatrixWithGaps(int64_t rows, int64_t columns, Generator& g, Trans trans = Trans::no)
      : t(trans),
        rows_in_memory(t == Trans::no ? rows : columns),
        row_length(t == Trans::no ? columns : rows),
        step(row_length + row_gap),
        numbers(static_cast<size_t>(rows_in_memory * step)) {
    fill_uniform(g, numbers, -1, 1);
  }

  Matrix view() { return Matrix(numbers.data(), rows_in_memory, row_length, step).transposed(t); }
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

// The largest error of one product, compared with a loop in double. Includes the gaps between the
// rows of C, which must not change.
double largest_error(Trans ta, Trans tb, ProductSize size, bool add) {
  Generator g(static_cast<uint64_t>(size.m + 100 * size.n + 10000 * size.k));
  MatrixWithGaps a(size.m, size.k, g, ta), b(size.k, size.n, g, tb), c(size.m, size.n, g);
  const MatrixWithGaps before = c;
  if (!add) {
    for (int64_t i = 0; i < size.m; ++i) {
      std::fill_n(c.numbers.begin() + i * c.step, size.n, not_a_number);
    }
  }
  detail::packed_gemm({a.view(), b.view(), c.view(), add});
  double largest = 0;
  for (int64_t i = 0; i < size.m; ++i) {
    for (int64_t j = 0; j < c.step; ++j) {
      double want = j < size.n && !add ? 0 : before.at(i, j);
      for (int64_t l = 0; j < size.n && l < size.k; ++l) {
        want += a.at(i, l) * b.at(l, j);
      }
      const double error = std::abs(c.at(i, j) - want);
      largest = error <= largest ? largest : error;  // keeps a NaN
    }
  }
  return largest;
}

}  // namespace

// All four transpositions of each size, into C and added to it. The tolerance is the rounding error
// of a sum of k products in `real`.
TEST_CASE("packed gemm: every shape of tile, whole blocks and their rests") {
  const double unit = static_cast<double>(std::numeric_limits<real>::epsilon());
  for (const ProductSize size : {ProductSize{1, 1, 1},
                                 {6, 64, 16},
                                 {5, 63, 15},
                                 {7, 65, 17},
                                 {13, 33, 128},
                                 {24, 96, 129},
                                 {259, 20, 40},
                                 {40, 385, 30},
                                 {260, 390, 300}}) {
    for (const Trans ta : {Trans::no, Trans::yes}) {
      for (const Trans tb : {Trans::no, Trans::yes}) {
        for (const bool add : {false, true}) {
          CAPTURE(size.m);
          CAPTURE(size.n);
          CAPTURE(size.k);
          CHECK(largest_error(ta, tb, size, add) <= unit * static_cast<double>(size.k + 4));
        }
      }
    }
  }
}
