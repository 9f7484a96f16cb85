// Rotary position embedding: rotates pairs of elements by an angle proportional to the position.
//   x (..., T, H d) -> y (..., T, H d)
//   table (>= first + T, r), r <= d: in each row r/2 cosines, then r/2 sines
//
//   in each head, for i < r/2 and token t; elements from r on stay as they are:
//     c          = table[first + t, i]
//     s          = table[first + t, i + r/2]
//     y_i        = x_i c - x_(i+r/2) s
//     y_(i+r/2)  = x_(i+r/2) c + x_i s
//     dx_i       = dy_i c + dy_(i+r/2) s                     the rotation by the opposite angle
//     dx_(i+r/2) = dy_(i+r/2) c - dy_i s
//
// Saves the table. The products of rotated queries and keys depend on the distance between two
// tokens, not on their positions. Source: Su et al. 2021, arXiv:2104.09864. Element i is paired
// with element i + r/2, as in the released weights of Llama, not with its neighbour. r < d is the
// partial rotation of GPT-NeoX (Black et al. 2022, arXiv:2204.06745).
#pragma once

#include <functional>
#include <optional>

#include "autograd/base/elementary.h"
#include "autograd/base/modes.h"
#include "autograd/op.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/concat.h"
#include "autograd/ops/reshape.h"
#include "autograd/ops/row_loops.h"
#include "autograd/ops/slice.h"

namespace heed {

// The table for `count` positions t from `first` on: the angles are t base^(-2 i / width), or
// t scaled(that power).
inline Array rotary_table(int64_t count, int64_t width, double base = 10000,
                          const std::function<double(double)>& scaled = {}, int64_t first = 0) {
  require(width % 2 == 0, "rotary_table: expected an even head width, got ", width);
  Array table = Array::uninitialised({count, width});
  const int64_t half = width / 2;
  for (int64_t t = 0; t < count && !dry_run(); ++t) {
    real* row = table.mutable_data() + t * width;
    for (int64_t i = 0; i < half; ++i) {
      const double turn =
          fast_exp(fast_log(base) * (-2.0 * static_cast<double>(i) / static_cast<double>(width)));
      const double angle = static_cast<double>(first + t) * (scaled ? scaled(turn) : turn);
      const Circle at = circle_at(angle);
      row[i] = static_cast<real>(at.cosine);
      row[half + i] = static_cast<real>(at.sine);
    }
  }
  return table;
}

namespace detail {

// width: of a head.
inline void check_rotary(const Shape& x, const Shape& table, int64_t first, int64_t width) {
  require(table.rank() == 2 && table[1] % 2 == 0 && table[1] > 0 && table[1] <= width,
          "rotary: expected a table (positions, even number up to the head width ", width,
          "), got ", table);
  require(x.rank() >= 2 && x[-1] % width == 0, "rotary: expected x (..., T, heads * ", width,
          ") for the table ", table, ", got ", x);
  require(first >= 0 && first <= table[0] - x[-2], "rotary: expected at most ", table[0],
          " positions, got ", x[-2], " from ", first, " on");
}

// Rotates one row of all heads, by the angles (sign 1) or back (sign -1). Calls put(i, value) for
// each element.
template <class Put>
void rotate_row(const real* x, const real* angles, int64_t heads, int64_t width, int64_t turned,
                real sign, Put put) {
  const int64_t half = turned / 2;
  for (int64_t h = 0; h < heads; ++h) {
    const int64_t low = h * width, high = low + half;
    for (int64_t i = 0; i < half; ++i) {
      const real c = angles[i], s = sign * angles[half + i];
      put(low + i, x[low + i] * c - x[high + i] * s);
      put(high + i, x[high + i] * c + x[low + i] * s);
    }
    for (int64_t i = low + turned; i < low + width; ++i) put(i, x[i]);
  }
}

}  // namespace detail

[[nodiscard]] inline Tensor rotary_composed(const Tensor& x, const Array& table, int64_t first = 0,
                                            std::optional<int64_t> head_width = {}) {
  const int64_t turned = table.dim(1), width = head_width.value_or(turned), half = turned / 2;
  detail::check_rotary(x.shape(), table.shape(), first, width);
  const Tensor angles = slice(reshape(Tensor(table), {table.dim(0), 1, turned}), 0, first,
                              first + x.dim(-2));  // (T, 1, r)
  const Tensor c = slice(angles, -1, 0, half), s = slice(angles, -1, half, turned);
  const Tensor heads =
      reshape(x, x.shape().with(-1, x.dim(-1) / width).inserted(x.rank(), width));  // (..., H, d)
  const Tensor low = slice(heads, -1, 0, half), high = slice(heads, -1, half, turned);
  const Tensor rest = slice(heads, -1, turned, width);
  return reshape(concat({low * c - high * s, high * c + low * s, rest}, -1), x.shape());
}

// head_width: d, the width of the table if it is not given. ShapeError if the width of x is not a
// multiple of d, or if the table has too few positions.
[[nodiscard]] inline Tensor rotary(const Tensor& x, const Array& table, int64_t first = 0,
                                   std::optional<int64_t> head_width = {}) {
  if (!fused()) {
    return rotary_composed(x, table, first, head_width);
  }
  const int64_t turned = table.dim(1), width = head_width.value_or(turned);
  detail::check_rotary(x.shape(), table.shape(), first, width);
  const Rows rows = rows_of(x.shape());
  const int64_t heads = rows.width / width, tokens = x.dim(-2);
  const auto angles = [table = table.current(), first, turned, tokens](int64_t r) {
    return table.data() + (first + r % tokens) * turned;
  };
  Array y = map_rows(x.value(), [&](int64_t r, const real* in, real* out) {
    detail::rotate_row(in, angles(r), heads, width, turned, 1,
                       [out](int64_t i, real v) { out[i] = v; });
  });
  return record("rotary", std::move(y), {x},
                [angles, rows, heads, width, turned](const Array& dy, Grads& grads) {
                  grads.emit_rows(0, rows, [&, g = dy.data()](int64_t r, auto put) {
                    detail::rotate_row(g + r * rows.width, angles(r), heads, width, turned, -1,
                                       put);
                  });
                });
}

}  // namespace heed
