#include "autograd/kernels/matrix.h"

#include <numeric>

#include "tests/support/near.h"

using namespace heed;

namespace {

// The numbers of a view, row by row.
std::vector<real> numbers(ConstMatrix m) {
  std::vector<real> all;
  for (int64_t i = 0; i < m.rows(); ++i) {
    for (int64_t j = 0; j < m.columns(); ++j) {
      all.push_back(*m.rows(i, i + 1).columns(j, j + 1).data());
    }
  }
  return all;
}

}  // namespace

TEST_CASE("matrix: transposes and parts are views of the same numbers") {
  std::vector<real> memory(12);
  std::iota(memory.begin(), memory.end(), real{0});
  const Matrix m(memory.data(), 2, 3, 5);  // 0 1 2 | 5 6 7
  CHECK(numbers(m) == std::vector<real>{0, 1, 2, 5, 6, 7});
  CHECK(numbers(m.transposed()) == std::vector<real>{0, 5, 1, 6, 2, 7});
  CHECK(numbers(m.transposed().transposed()) == numbers(m));
  CHECK(numbers(m.transposed(Trans::no)) == numbers(m));
  CHECK(numbers(m.columns(1, 3)) == std::vector<real>{1, 2, 6, 7});
  CHECK(numbers(m.transposed().rows(1, 3)) == std::vector<real>{1, 6, 2, 7});
  CHECK(numbers(m.transposed().columns(1, 2)) == std::vector<real>{5, 6, 7});
  CHECK(numbers(Matrices{m.columns(0, 1), 2}[1]) == std::vector<real>{2, 7});
  CHECK(m.columns(1, 2).rows(1, 1).rows() == 0);
}

TEST_CASE("matrix: an array's last axis becomes the columns") {
  Array x = Array::from({2, 1, 3}, {0, 1, 2, 3, 4, 5});
  CHECK(numbers(as_matrix(x)) == std::vector<real>{0, 1, 2, 3, 4, 5});
  CHECK(as_matrix(x).rows() == 2);
  *as_writable_matrix(x).data() = 9;
  CHECK(x.data()[0] == 9);
  CHECK(as_matrix(Array::zeros({4, 0})).step() == 1);
}
