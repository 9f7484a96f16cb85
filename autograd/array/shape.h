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

// Up to six axes with extents >= 0. size() is the product of the extents. Rank 0 is a single
// number, size() == 1. ShapeError if an extent is negative, or if the product of the extents above
// 0 does not fit into 64 bits.
class Shape {
 public:
  static constexpr int max_rank = 6;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims);

  int rank() const { return static_cast<int>(numbers_[rank_at]); }
  int64_t size() const { return numbers_[size_at]; }

  // The extent of an axis. Negative axes count from the end: s[-1] is the innermost.
  int64_t operator[](int axis) const { return numbers_[static_cast<size_t>(index_of(axis))]; }

  // The axis as an index in [0, rank); ShapeError if there is no such axis.
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

  bool operator==(const Shape& other) const = default;

 private:
  [[noreturn]] void throw_bad_axis(int axis) const;

  // The extents (0 for unused axes), the rank and the size, in one array. As separate members they
  // are copied by several narrow stores, and a wide load that follows stalls until these are
  // complete.
  static constexpr size_t rank_at = max_rank, size_at = max_rank + 1;
  std::array<int64_t, max_rank + 2> numbers_{0, 0, 0, 0, 0, 0, 0, 1};
};

// Prints as NumPy does: "(2, 3)", "(4,)", "()".
std::ostream& operator<<(std::ostream& out, const Shape& shape);

// The shape that a and b broadcast to, by NumPy's rule: the last axes are aligned, and two extents
// must be equal or one of them 1. Otherwise ShapeError, whose message begins with `op`.
Shape broadcast(const char* op, const Shape& a, const Shape& b);

// A shape as a matrix of `count` rows of `width` elements: all axes but the last folded into one.
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
// a + b, in the same way.
inline int64_t saturated_sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

}  // namespace heed
