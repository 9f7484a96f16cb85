#include "autograd/array/select.h"

#include "autograd/array/map.h"

namespace heed {

namespace {

// One row of y. The steps are 0 for an operand that is stretched along the last axis, else 1.
// Filling masked elements with a number is the common case and gets a vector loop.
void select_row(const uint8_t* mask, int64_t step_mask, const real* a, int64_t step_a,
                const real* b, int64_t step_b, real* y, int64_t n) {
  if (step_mask == 1 && step_a == 0 && step_b == 1) {
    const real chosen = *a;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      y[i] = mask[i] != 0 ? chosen : b[i];
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    y[i] = mask[i * step_mask] != 0 ? a[i * step_a] : b[i * step_b];
  }
}

}  // namespace

Array select(const Mask& mask, const Array& a, const Array& b, const Shape& shape) {
  Array y = Array::uninitialised(shape);
  if (y.size() == 0) {
    return y;
  }
  const BroadcastReader of_mask(mask.shape(), shape), of_a(a.shape(), shape),
      of_b(b.shape(), shape);
  const Rows rows = shape.rank() == 0 ? Rows{1, 1} : rows_of(shape);
  const uint8_t* chosen = mask.data();
  const real *in_a = a.data(), *in_b = b.data();
  real* out = y.mutable_data();
  parallel_rows(rows.count, rows.width, [&](int64_t r) {
    select_row(chosen + of_mask.row_offset(r), of_mask.step(), in_a + of_a.row_offset(r),
               of_a.step(), in_b + of_b.row_offset(r), of_b.step(), out + r * rows.width,
               rows.width);
  });
  return y;
}

Mask logical_not(const Mask& mask) {
  return map<uint8_t>(mask, [](uint8_t v) { return v == 0; });
}

}  // namespace heed
