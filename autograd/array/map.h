// Applies a function to every element, in parallel: map to one array, zip to two with broadcasting.
#pragma once

#include "autograd/array/array.h"
#include "autograd/threads/parallel.h"

namespace heed {

// y_i = f(x_i), for x and y of any two kinds of numbers
template <class To = real, class From, class F>
BasicArray<To> map(const BasicArray<From>& x, F f) {
  BasicArray<To> y = BasicArray<To>::uninitialised(x.shape());
  const From* in = x.data();
  To* out = y.mutable_data();
  parallel_for(x.size(), elementwise_grain, [=](int64_t begin, int64_t end) {
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) {
      out[i] = f(in[i]);
    }
  });
  return y;
}

// Reads an array as if it were broadcast to a larger shape, row by row. An axis that is stretched
// has stride 0:
//   of (4, 1, 3) over (2, 4, 5, 3): strides (0, 3, 0, 1); row r = (i, j, k) begins at 3 j
class BroadcastReader {
 public:
  BroadcastReader(const Shape& of, const Shape& over);

  // The offset in the array of row r of the larger shape.
  int64_t row_offset(int64_t r) const {
    int64_t offset = 0;
    for (int axis = outer_axes_ - 1; axis >= 0; --axis) {
      const auto k = static_cast<size_t>(axis);
      offset += r % extent_[k] * stride_[k];
      r /= extent_[k];
    }
    return offset;
  }
  // The stride of the last axis: 1, or 0 if the array is stretched along it.
  int64_t step() const { return step_; }

 private:
  std::array<int64_t, Shape::max_rank> extent_{}, stride_{};
  int outer_axes_ = 0;
  int64_t step_ = 0;
};

namespace detail {
template <class F>
void zip_broadcast(const Array& a, const Array& b, Array& y, F f) {
  const BroadcastReader of_a(a.shape(), y.shape()), of_b(b.shape(), y.shape());
  const real *in_a = a.data(), *in_b = b.data();
  real* out = y.mutable_data();
  const Rows rows = rows_of(y.shape());
  const int64_t step_a = of_a.step(), step_b = of_b.step();
  parallel_rows(rows.count, rows.width, [&](int64_t r) {
    const real *row_a = in_a + of_a.row_offset(r), *row_b = in_b + of_b.row_offset(r);
    real* row = out + r * rows.width;
#pragma omp simd
    for (int64_t i = 0; i < rows.width; ++i) {
      row[i] = f(row_a[i * step_a], row_b[i * step_b]);
    }
  });
}
}  // namespace detail

// y_i = f(a_i, b_i), with a and b broadcast to the shape of y. `op` is the name in errors.
template <class F>
Array zip(const char* op, const Array& a, const Array& b, F f) {
  const bool same = a.shape() == b.shape();
  Array y = same ? Array::uninitialised(a.shape())
                 : Array::uninitialised(broadcast(op, a.shape(), b.shape()));
  if (!same && y.size() > 0) {
    detail::zip_broadcast(a, b, y, f);
    return y;
  }
  const real *in_a = a.data(), *in_b = b.data();
  real* out = y.mutable_data();
  parallel_for(y.size(), elementwise_grain, [=](int64_t begin, int64_t end) {
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) {
      out[i] = f(in_a[i], in_b[i]);
    }
  });
  return y;
}

}  // namespace heed
