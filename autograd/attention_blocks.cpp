#include "autograd/attention_blocks.h"

namespace heed::detail {

bool ScoreBlock::hidden() const {
  if (limit(rows - 1) == 0) {
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

void hide(const ScoreBlock& block, int64_t r, int64_t n, real* scores) {
  const int64_t seen = block.limit(r);
  if (block.problem.mask) {
    const uint8_t* may = block.problem.mask_row(block.b, block.h, block.i0 + r) + block.j0;
#pragma omp simd
    for (int64_t c = 0; c < seen; ++c) {
      scores[c] = may[c] != 0 ? scores[c] : hidden_score;
    }
  }
  const Vector hidden = Vector{} + hidden_score;
  for (int64_t c = seen / lanes * lanes; c < n; c += lanes) {
    store(scores + c, counting(c) < static_cast<Integer>(seen) ? load(scores + c) : hidden);
  }
  for (int64_t c = n; c < block.padded_cols(); c += lanes) {
    store(scores + c, Vector{});
  }
}

}  // namespace heed::detail
