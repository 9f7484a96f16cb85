// The order of a sum of floats: that of autograd/kernels/row_math.h, written out.
#include "autograd/base/sum.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace heed;

TEST_CASE("sum: columns one after the other, then a tree, whatever the length") {
  std::vector<real> x(200);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<real>(std::sin(7.0 * static_cast<double>(i)));
  int64_t other_order = 0;
  for (int64_t begin : {0, 3}) {
    for (int64_t end = begin; end <= 200; ++end) {
      std::vector<real> columns(vector_block);
      real in_a_row = 0;
      for (int64_t i = begin; i < end; ++i) {
        columns[static_cast<size_t>((i - begin) % vector_block)] += x[static_cast<size_t>(i)];
        in_a_row += x[static_cast<size_t>(i)];
      }
      for (size_t half = columns.size() / 2; half > 0; half /= 2) {
        for (size_t j = 0; j < half; ++j) columns[j] += columns[j + half];
      }
      const real sum = sum_of(begin, end, [v = x.data()](int64_t i) { return v[i]; });
      CHECK(sum == columns[0]);
      other_order += sum != in_a_row;
    }
  }
  CHECK(other_order > 100);
}
