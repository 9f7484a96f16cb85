// The extents of an array, row-major: the last axis is contiguous.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <span>

#include "autograd/base/error.h"

namespace heed {

// Up to six axes, each of any extent >= 0. Rank 0 is a single number: size() == 1.
//   size() == product of the extents
class Shape {
 public:
  static constexpr int max_rank = 6;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims);

  int rank() const { return static_cast<int>(numbers_[rank_at]); }
  int64_t size() const { return numbers_[size_at]; }

  // The extent of an axis; negative axes count from the last: s[-1] is the innermost.
  int64_t operator[](int axis) const { return numbers_[static_cast<size_t>(index_of(axis))]; }

  // 0 <= axis < rank for an axis that may be given from the end; throws ShapeError otherwise.
  int index_of(int axis) const {
    const int index = axis < 0 ? axis + rank() : axis;
    if (index < 0 || index >= rank()) [[unlikely]] {
      throw_bad_axis(axis);
    }
    return index;
  }

  std::span<const int64_t> dims() const { return {numbers_.data(), static_cast<size_t>(rank())}; }

  // The product of the extents of axes [first, last).
  int64_t size_between(int first, int last) const;

  Shape with(int axis, int64_t extent) const;      // one extent replaced
  Shape without(int axis) const;                   // one axis removed
  Shape inserted(int axis, int64_t extent) const;  // a new axis before `axis` (rank() appends)

  bool operator==(const Shape& other) const {
    if (rank() != other.rank()) {
      return false;
    }
    for (size_t k = 0; k < dims().size(); ++k) {
      if (numbers_[k] != other.numbers_[k]) {
        return false;
      }
    }
    return true;
  }

 private:
  [[noreturn]] void throw_bad_axis(int axis) const;

  // The extents, 0 for unused axes, then rank and size. Members of their own are copied one by one,
  // and a CPU that then reads several at once waits until all are written.
  static constexpr size_t rank_at = max_rank, size_at = max_rank + 1;
  std::array<int64_t, max_rank + 2> numbers_{0, 0, 0, 0, 0, 0, 0, 1};
};

// "(2, 3)", "(4,)" and "()", as PyTorch and NumPy write shapes.
std::ostream& operator<<(std::ostream& out, const Shape& shape);

// The shape that a and b broadcast to, by NumPy's rule: align the last axes; extents must be equal
// or one of them 1. Throws ShapeError in the name of `op`.
Shape broadcast(const char* op, const Shape& a, const Shape& b);

// A shape seen as `count` rows of `width` numbers: all axes but the last folded together.
struct Rows {
  int64_t count = 0;
  int64_t width = 0;
};
inline Rows rows_of(const Shape& shape) {
  return {shape.size_between(0, shape.rank() - 1), shape[-1]};
}

// a * b for sizes a, b >= 0 that come from a config; 2^63 - 1 if the product is larger. A Shape or
// the plan of a run then refuses that number, where a product that wrapped around would pass.
inline int64_t saturated_product(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

}  // namespace heed
