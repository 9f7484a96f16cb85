// The extents of an array, row-major: the last axis is contiguous.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>

#include "autograd/error.h"

namespace heed {

// Up to six axes, each of any extent >= 0. Rank 0 is a single number: size() == 1.
//   size() == product of the extents
class Shape {
 public:
  static constexpr int max_rank = 6;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  int64_t size() const { return size_; }

  // The extent of an axis; negative axes count from the last: s[-1] is the innermost.
  int64_t operator[](int axis) const { return dims_[static_cast<size_t>(index_of(axis))]; }

  // 0 <= axis < rank for an axis that may be given from the end; throws ShapeError otherwise.
  int index_of(int axis) const {
    const int index = axis < 0 ? axis + rank_ : axis;
    if (index < 0 || index >= rank_) [[unlikely]] {
      throw_bad_axis(axis);
    }
    return index;
  }

  std::span<const int64_t> dims() const { return {dims_.data(), static_cast<size_t>(rank_)}; }

  // The product of the extents of axes [first, last).
  int64_t size_between(int first, int last) const;

  Shape with(int axis, int64_t extent) const;      // one extent replaced
  Shape without(int axis) const;                   // one axis removed
  Shape inserted(int axis, int64_t extent) const;  // a new axis before `axis` (rank() appends)

  bool operator==(const Shape& other) const {
    int64_t differences = rank_ ^ other.rank_;  // without a branch or a call
    for (size_t k = 0; k < dims_.size(); ++k) {
      differences |= dims_[k] ^ other.dims_[k];
    }
    return differences == 0;
  }

 private:
  [[noreturn]] void throw_bad_axis(int axis) const;

  std::array<int64_t, max_rank> dims_{};  // unused axes stay 0, so that == may compare them all
  int rank_ = 0;
  int64_t size_ = 1;
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

}  // namespace heed
