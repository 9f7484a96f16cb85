// Rotary position embedding: rotates pairs of elements by an angle proportional to the position.
//   x (..., T, H d) -> y (..., T, H d)
//   table (>= first + T, d): in each row d/2 cosines, then d/2 sines
//
//   in each head, for i < d/2 and token t:
//     c          = table[first + t, i]
//     s          = table[first + t, i + d/2]
//     y_i        = x_i c - x_(i+d/2) s
//     y_(i+d/2)  = x_(i+d/2) c + x_i s
//     dx_i       = dy_i c + dy_(i+d/2) s                     the rotation by the opposite angle
//     dx_(i+d/2) = dy_(i+d/2) c - dy_i s
//
// Saves the table. The products of rotated queries and keys depend on the distance between two
// tokens, not on their positions. Source: Su et al. 2021, arXiv:2104.09864. Element i is paired
// with element i + d/2, as in the released weights of Llama, not with its neighbour.
#pragma once

#include <cmath>

#include "autograd/base/modes.h"
#include "autograd/op.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/concat.h"
#include "autograd/ops/reshape.h"
#include "autograd/ops/slice.h"

namespace heed {

// The table for positions t < count and heads of width d: the angles are t base^(-2 i / d).
inline Array rotary_table(int64_t count, int64_t width, double base = 10000) {
  require(width % 2 == 0, "rotary_table: expected an even head width, got ", width);
  Array table = Array::uninitialised({count, width});
  const int64_t half = width / 2;
  for (int64_t t = 0; t < count && !dry_run(); ++t) {
    real* row = table.mutable_data() + t * width;
    for (int64_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(t) * std::pow(base, -2.0 * static_cast<double>(i) /
                                                                       static_cast<double>(width));
      row[i] = static_cast<real>(std::cos(angle));
      row[half + i] = static_cast<real>(std::sin(angle));
    }
  }
  return table;
}

namespace detail {

inline void check_rotary(const Shape& x, const Shape& table, int64_t first) {
  require(table.rank() == 2 && table[1] % 2 == 0 && table[1] > 0,
          "rotary: expected a table (positions, even head width), got ", table);
  require(x.rank() >= 2 && x[-1] % table[1] == 0, "rotary: expected x (..., T, heads * ", table[1],
          ") for the table ", table, ", got ", x);
  require(first >= 0 && first <= table[0] - x[-2], "rotary: expected at most ", table[0],
          " positions, got ", x[-2], " from ", first, " on");
}

// Rotates one row of all heads, by the angles (sign 1) or back (sign -1). Calls put(i, value) for
// each element.
template <class Put>
void rotate_row(const real* x, const real* angles, int64_t heads, int64_t width, real sign,
                Put put) {
  const int64_t half = width / 2;
  for (int64_t h = 0; h < heads; ++h) {
    const int64_t low = h * width, high = low + half;
    for (int64_t i = 0; i < half; ++i) {
      const real c = angles[i], s = sign * angles[half + i];
      put(low + i, x[low + i] * c - x[high + i] * s);
      put(high + i, x[high + i] * c + x[low + i] * s);
    }
  }
}

}  // namespace detail

[[nodiscard]] inline Tensor rotary_composed(const Tensor& x, const Array& table,
                                            int64_t first = 0) {
  detail::check_rotary(x.shape(), table.shape(), first);
  const int64_t width = table.dim(1), half = width / 2, tokens = x.dim(-2);
  const Tensor angles = slice(reshape(Tensor(table), {table.dim(0), 1, width}), 0, first,
                              first + tokens);  // (T, 1, d)
  const Tensor c = slice(angles, -1, 0, half), s = slice(angles, -1, half, width);
  const Tensor heads =
      reshape(x, x.shape().with(-1, x.dim(-1) / width).inserted(x.rank(), width));  // (..., H, d)
  const Tensor low = slice(heads, -1, 0, half), high = slice(heads, -1, half, width);
  return reshape(concat({low * c - high * s, high * c + low * s}, -1), x.shape());
}

// ShapeError if the width of x is not a multiple of d, or if the table has too few positions.
[[nodiscard]] inline Tensor rotary(const Tensor& x, const Array& table, int64_t first = 0) {
  if (!fused()) {
    return rotary_composed(x, table, first);
  }
  detail::check_rotary(x.shape(), table.shape(), first);
  const Rows rows = rows_of(x.shape());
  const int64_t width = table.dim(1), heads = rows.width / width, tokens = x.dim(-2);
  const auto angles = [table = table.current(), first, width, tokens](int64_t r) {
    return table.data() + (first + r % tokens) * width;
  };
  const Array from = x.value();
  Array y = Array::uninitialised(x.shape());
  const real* in = from.data();
  real* out = y.mutable_data();
  parallel_rows(rows.count, rows.width, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      real* row = out + r * rows.width;
      detail::rotate_row(in + r * rows.width, angles(r), heads, width, 1,
                         [row](int64_t i, real v) { row[i] = v; });
    }
  });
  return record("rotary", std::move(y), {x},
                [angles, rows, heads, width](const Array& dy, Grads& grads) {
                  grads.emit_rows(0, rows, [&, g = dy.data()](int64_t r, auto put) {
                    detail::rotate_row(g + r * rows.width, angles(r), heads, width, -1, put);
                  });
                });
}

}  // namespace heed
