#include "autograd/array/shape.h"

#include <algorithm>
#include <limits>
#include <ostream>

namespace heed {

namespace {
// Their number of bytes, rounded up to a size class, fits into 64 bits as well.
constexpr int64_t most_elements = std::numeric_limits<int64_t>::max() / 32;
}  // namespace

Shape::Shape(std::span<const int64_t> dims) {
  require(dims.size() <= max_rank, "shape: expected at most ", max_rank, " axes, got ",
          dims.size());
  int64_t product = 1;  // any axes together have at most as many elements, also next to one of none
  for (size_t i = 0; i < dims.size(); ++i) {
    require(dims[i] >= 0, "shape: expected extents >= 0, got ", dims[i], " on axis ", i);
    numbers_[i] = dims[i];
    numbers_[size_at] = dims[i] == 0 ? 0 : numbers_[size_at];
    const bool fits = !__builtin_mul_overflow(product, std::max<int64_t>(dims[i], 1), &product);
    require(fits && product <= most_elements, "shape: more elements than a 64-bit count can hold");
  }
  numbers_[size_at] *= product;
  numbers_[rank_at] = static_cast<int64_t>(dims.size());
}

int64_t Shape::size_between(int first, int last) const {
  int64_t product = 1;
  for (int i = first; i < last; ++i) {
    product *= numbers_[static_cast<size_t>(i)];
  }
  return product;
}

Shape Shape::with(int axis, int64_t extent) const {
  std::array<int64_t, max_rank + 2> changed = numbers_;
  changed[static_cast<size_t>(index_of(axis))] = extent;
  return Shape(std::span(changed.data(), dims().size()));
}

Shape Shape::without(int axis) const {
  std::array<int64_t, max_rank + 2> kept = numbers_;
  std::shift_left(kept.begin() + index_of(axis), kept.begin() + rank(), 1);
  return Shape(std::span(kept.data(), dims().size() - 1));
}

Shape Shape::inserted(int axis, int64_t extent) const {
  require(axis >= 0 && axis <= rank() && rank() < max_rank, "shape: no axis ", axis,
          " to insert into ", *this);
  std::array<int64_t, max_rank + 2> longer = numbers_;
  std::shift_right(longer.begin() + axis, longer.begin() + rank() + 1, 1);
  longer[static_cast<size_t>(axis)] = extent;
  return Shape(std::span(longer.data(), dims().size() + 1));
}

void Shape::throw_bad_axis(int axis) const {
  fail("shape: expected an axis from ", -rank(), " to ", rank() - 1, " of ", *this, ", got ", axis);
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '(';
  for (int i = 0; i < shape.rank(); ++i) {
    out << (i > 0 ? ", " : "") << shape[i];
  }
  return out << (shape.rank() == 1 ? ",)" : ")");
}

Shape broadcast(const char* op, const Shape& a, const Shape& b) {
  if (a == b) {
    return a;
  }
  const int rank = std::max(a.rank(), b.rank());
  std::array<int64_t, Shape::max_rank> dims{};
  for (int back = 1; back <= rank; ++back) {
    const int64_t of_a = back <= a.rank() ? a[-back] : 1;
    const int64_t of_b = back <= b.rank() ? b[-back] : 1;
    require(of_a == of_b || of_a == 1 || of_b == 1, op, ": shapes ", a, " and ", b,
            " do not broadcast: axis -", back, " is ", of_a, " and ", of_b);
    dims[static_cast<size_t>(rank - back)] = of_a == 1 ? of_b : of_a;
  }
  return Shape(std::span(dims.data(), static_cast<size_t>(rank)));
}

}  // namespace heed
