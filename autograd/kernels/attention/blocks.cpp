#include "autograd/kernels/attention/blocks.h"

namespace heed::detail {

bool ScoreBlock::hidden() const {
  if (limit(rows - 1) == 0 || (first(0) == cols && sinks() == 0)) {
    return true;
  }
  if (!problem.mask) {
    return false;
  }
  const int64_t rows_of_mask = problem.mask.rank() == 2 ? 1 : rows;
  for (int64_t r = 0; r < rows_of_mask; ++r) {
    const uint8_t* may = problem.mask_row(b, h, i0 + r) + j0;
    if (std::any_of(may, may + cols, [](uint8_t m) { return m != 0; })) {
      return false;
    }
  }
  return true;
}

void hide_by_mask(const ScoreBlock& block, int64_t r, int64_t n, real* scores) {
  const uint8_t* may = block.problem.mask_row(block.b, block.h, block.i0 + r) + block.j0;
#pragma omp simd
  for (int64_t c = 0; c < n; ++c) {
    scores[c] = may[c] != 0 ? scores[c] : hidden_score;
  }
}

}  // namespace heed::detail
