// Splits an axis into parts, as torch.split. The inverse of concat.
//   x (outer, n, inner) -> y_k (outer, n_k, inner),  sum_k n_k = n
// Each part is a slice. No gradient is computed for a part that is not used.
#pragma once

#include <numeric>
#include <vector>

#include "autograd/op.h"
#include "autograd/ops/slice.h"

namespace heed {

[[nodiscard]] inline std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& sizes,
                                               int axis) {
  const int64_t total = std::accumulate(sizes.begin(), sizes.end(), int64_t{0}, saturated_sum);
  const bool valid = std::all_of(sizes.begin(), sizes.end(), [](int64_t n) { return n >= 0; });
  require(valid && total == x.dim(axis), "split: expected sizes >= 0 that add up to ", x.dim(axis),
          ", axis ", axis, " of x ", x.shape(), "; got ", sizes.size(), " sizes with sum ", total);
  std::vector<Tensor> parts;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    parts.push_back(slice(x, axis, begin, begin + size));
    begin += size;
  }
  return parts;
}

// Parts of `size`; the last one may be smaller.
[[nodiscard]] inline std::vector<Tensor> split(const Tensor& x, int64_t size, int axis) {
  require(size >= 1, "split: expected parts of size 1 or more, got ", size);
  std::vector<int64_t> sizes;
  for (int64_t left = x.dim(axis); left > 0; left -= size) {
    sizes.push_back(std::min(size, left));
  }
  return split(x, sizes, axis);
}

}  // namespace heed
