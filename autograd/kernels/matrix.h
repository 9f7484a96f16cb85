// Views of matrices: what products are computed from and into.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "autograd/array/array.h"

namespace heed {

enum class Trans { no, yes };

// A view of a matrix (rows, columns), which does not own the memory. Copies, transposes and parts
// are views of the same numbers and cost nothing. Rows begin `step` numbers apart in memory (BLAS's
// leading dimension, at least 1); in a transposed view columns do:
//
//   element (i, j) is data[i * step + j], in a transposed view data[j * step + i]
template <class T>
class BasicMatrix {
 public:
  BasicMatrix(T* data, int64_t rows, int64_t columns, int64_t step)
      : data_(data), rows_(rows), columns_(columns), step_(step) {}
  BasicMatrix(T* data, int64_t rows, int64_t columns)
      : BasicMatrix(data, rows, columns, std::max<int64_t>(columns, 1)) {}

  operator BasicMatrix<const T>() const {
    if (is_transposed_) {
      return BasicMatrix<const T>(data_, columns_, rows_, step_).transposed();
    }
    return {data_, rows_, columns_, step_};
  }

  T* data() const { return data_; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t step() const { return step_; }
  bool is_transposed() const { return is_transposed_; }

  BasicMatrix transposed() const {
    BasicMatrix m = *this;
    std::swap(m.rows_, m.columns_);
    m.is_transposed_ = !is_transposed_;
    return m;
  }
  BasicMatrix transposed(Trans t) const { return t == Trans::yes ? transposed() : *this; }

  // Rows, or columns, [begin, end).
  BasicMatrix rows(int64_t begin, int64_t end) const {
    BasicMatrix m = shifted(begin * (is_transposed_ ? 1 : step_));
    m.rows_ = end - begin;
    return m;
  }
  BasicMatrix columns(int64_t begin, int64_t end) const {
    BasicMatrix m = shifted(begin * (is_transposed_ ? step_ : 1));
    m.columns_ = end - begin;
    return m;
  }

  // The matrix of the same size that begins `numbers` numbers later in memory.
  BasicMatrix shifted(int64_t numbers) const {
    BasicMatrix m = *this;
    m.data_ += numbers;
    return m;
  }

 private:
  T* data_;
  int64_t rows_, columns_, step_;
  bool is_transposed_ = false;
};

using Matrix = BasicMatrix<real>;
using ConstMatrix = BasicMatrix<const real>;

// Matrices of one size, `stride` numbers apart. With stride 0 all of them are the first one.
template <class T>
struct BasicMatrices {
  BasicMatrix<T> first;
  int64_t stride = 0;

  BasicMatrix<T> operator[](int64_t i) const { return first.shifted(i * stride); }
  BasicMatrices transposed() const { return {first.transposed(), stride}; }
  BasicMatrices transposed(Trans t) const { return {first.transposed(t), stride}; }
};

using Matrices = BasicMatrices<real>;
using ConstMatrices = BasicMatrices<const real>;

// x (..., n) as a matrix (rows, n).
inline ConstMatrix as_matrix(const Array& x) {
  return {x.data(), rows_of(x.shape()).count, x.dim(-1)};
}
inline Matrix as_writable_matrix(Array& x) {
  return {x.mutable_data(), rows_of(x.shape()).count, x.dim(-1)};
}

}  // namespace heed
