#include "autograd/ops/slice.h"

namespace heed::detail {

void copy_strips(int64_t count, int64_t width, const real* from, int64_t step_from, real* to,
                 int64_t step_to) {
  parallel_rows(count, width,
                [=](int64_t r) { std::copy_n(from + r * step_from, width, to + r * step_to); });
}

void put_strips(Grads& grads, int64_t outer, int64_t n, int64_t first, int64_t width,
                const Array& dy) {
  const Grads::Target to = grads.target(0);
  const real* g = dy.data();
  parallel_rows(outer, to.add ? width : n, [=](int64_t r) {
    real* row = to.data + r * n;
    const real* strip = g + r * width;
    if (to.add) {
      for (int64_t i = 0; i < width; ++i) row[first + i] += strip[i];
    } else {
      std::fill_n(row, first, real{0});
      std::copy_n(strip, width, row + first);
      std::fill(row + first + width, row + n, real{0});
    }
  });
}

}  // namespace heed::detail
