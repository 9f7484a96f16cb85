#include "autograd/ops/embedding.h"

#include <algorithm>

namespace heed::detail {

void gather_rows(const Array& weight, const Ids& ids, Array& y) {
  const int64_t width = weight.dim(1);
  const real* table = weight.data();
  const int32_t* id = ids.data();
  real* out = y.mutable_data();
  parallel_rows(ids.size(), width,
                [=](int64_t i) { std::copy_n(table + id[i] * width, width, out + i * width); });
}

void scatter_rows(int64_t table_size, const Ids& ids, const Array& dy, Grads& grads) {
  const int64_t width = dy.dim(-1), count = ids.size();
  const Grads::Target to = grads.target(0);
  if (!to.add) {
    parallel_for(table_size, elementwise_grain, [=](int64_t begin, int64_t end) {
      std::fill(to.data + begin, to.data + end, real{0});
    });
  }
  // Parallel over blocks of 64 columns: several cache lines, so that threads rarely share one.
  // Blocks of a small table are put together until a chunk has enough work.
  constexpr int64_t columns = 64;
  const int64_t blocks = (width + columns - 1) / columns;
  const int64_t grain =
      std::max<int64_t>(1, elementwise_grain / (columns * std::max<int64_t>(1, count)));
  const real* g = dy.data();
  const int32_t* id = ids.data();
  parallel_for(blocks, grain, [=](int64_t begin, int64_t end) {
    const int64_t first = begin * columns, last = std::min(width, end * columns);
    for (int64_t i = 0; i < count; ++i) {
      real* row = to.data + id[i] * width;
      const real* from = g + i * width;
#pragma omp simd
      for (int64_t j = first; j < last; ++j) {
        row[j] += from[j];
      }
    }
  });
}

}  // namespace heed::detail
