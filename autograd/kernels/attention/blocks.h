// What the passes of attention share: how work is handed out, and a block of masked scores. Their
// matrix products are in block_products.h.
#pragma once

#include <limits>

#include "autograd/kernels/attention.h"
#include "autograd/kernels/attention/tile.h"
#include "autograd/threads/parallel.h"

namespace heed::detail {

inline constexpr real hidden_score = -std::numeric_limits<real>::infinity();

// Calls body(strip, head, scratch) for every strip of every head, strip 0, which is the most work,
// first. A thread takes the heads assigned to it, so their data stays in its cache, and then strips
// of other threads' heads. `flops` is the work of all tasks together; small tasks are taken several
// at a time.
//
// Each thread has scratch memory of its own. Tasks must be independent of each other: then the
// number of threads changes no bit.
template <class Body>
void for_each_task(int64_t strips, int64_t heads, double flops, int64_t scratch_size, Body&& body) {
  constexpr double worth_a_chunk = 1e6;
  const int64_t tasks = strips * heads;
  const double chunks = std::max(1.0, flops / worth_a_chunk);
  const auto grain = static_cast<int64_t>(static_cast<double>(tasks) / chunks) + 1;
  const int64_t slot_size = round_up(scratch_size, panel);
  Array scratch = Array::uninitialised({tasks > grain ? num_threads() : 1, slot_size});
  real* const memory = scratch.mutable_data();
  parallel_each(tasks, grain, [&](int64_t task) {
    body(task % strips, task / strips, memory + thread_index() * slot_size);
  });
}

// With few heads, the rows of each are cut into several strips. How long one is, a multiple of
// `block`.
inline int64_t length_of_strips(int64_t heads, int64_t rows, int64_t block) {
  constexpr int64_t wanted_tasks = 8;
  constexpr int64_t shortest = 256;  // below, packing the other side again costs too much
  const int64_t wanted = (wanted_tasks + heads - 1) / heads;
  const int64_t strips = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(rows / shortest, 1));
  return std::max(round_up((rows + strips - 1) / strips, block), block);
}

// Hands out a task's scratch memory piece by piece. Without memory it only adds up the sizes.
class ScratchArena {
 public:
  explicit ScratchArena(real* memory) : memory_(memory) {}

  real* take(int64_t size) {
    real* piece = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += round_up(size, panel);
    return piece;
  }
  int64_t used() const { return used_; }

 private:
  real* memory_;
  int64_t used_ = 0;
};

// Queries [i0, i0 + rows) of head h of item b against keys [j0, j0 + cols). Its scores, and
// whatever is made from them, lie in rows of padded_cols() numbers.
struct ScoreBlock {
  const AttentionProblem& problem;
  int64_t b, h;
  int64_t i0, rows;
  int64_t j0, cols;

  // Causality lets row r see columns [0, limit(r)).
  int64_t limit(int64_t r) const {
    return std::clamp<int64_t>(problem.visible(i0 + r) - j0, 0, cols);
  }
  // A window hides columns [sinks(), first(r)) from it.
  int64_t first(int64_t r) const {
    return std::clamp<int64_t>(problem.first_visible(i0 + r) - j0, 0, cols);
  }
  int64_t sinks() const { return std::clamp<int64_t>(problem.sinks - j0, 0, cols); }
  // Where the columns that are computed for row r and those after it begin, at a key_step.
  int64_t start(int64_t r) const { return sinks() > 0 ? 0 : first(r) / key_step * key_step; }
  // The first row that sees column c.
  int64_t first_row(int64_t c) const {
    const int64_t i = j0 + c - (problem.keys - problem.queries);
    return problem.causal ? std::clamp<int64_t>(i - i0, 0, rows) : 0;
  }
  // The end of the rows that see one of columns [c, end).
  int64_t row_end(int64_t c, int64_t end) const {
    return std::clamp<int64_t>(problem.last_query(j0 + c, j0 + end) - i0, 0, rows);
  }
  int64_t padded_cols() const { return round_up(cols, key_step); }
  // The number of the dropout mask's element for (r, column 0).
  int64_t dropout_element(int64_t r) const {
    return ((b * problem.heads + h) * problem.queries + i0 + r) * problem.keys + j0;
  }
  // True when causality, a window or the mask hides every pair.
  bool hidden() const;
};

// Sets those of the first n scores of row r that the mask hides to -infinity.
void hide_by_mask(const ScoreBlock& block, int64_t r, int64_t n, real* scores);

// Prepares row r of a block of scores for softmax. Scores [block.start(r), n), multiples of
// key_step, are bent by soft_cap and alibi; slopes, if not null, become the derivatives of
// soft_cap. Those that may not be attended to, padding included, become -infinity. The rest, up to
// padded_cols(), becomes 0.
inline void bend_and_hide(const ScoreBlock& block, int64_t r, int64_t n, real* scores,
                          real* slopes = nullptr) {
  const int64_t start = block.start(r), first = block.first(r), seen = block.limit(r);
  block.problem.bend_scores(block.h, block.i0 + r, block.j0 + start, n - start, scores + start,
                            slopes == nullptr ? slopes : slopes + start);
  if (block.problem.mask) {
    hide_by_mask(block, r, seen, scores);
  }
  const Vector hidden = Vector{} + hidden_score;
  for (int64_t c = seen / lanes * lanes; c < n; c += lanes) {
    store(scores + c, counting(c) < static_cast<Integer>(seen) ? load(scores + c) : hidden);
  }
  for (int64_t c = 0; c < start; c += lanes) {
    store(scores + c, Vector{});
  }
  const auto sinks = static_cast<Integer>(block.sinks()), from = static_cast<Integer>(first);
  for (int64_t c = start; c < first; c += lanes) {
    const IntegerVector at = counting(c);
    store(scores + c, ((at < sinks) | (at >= from)) ? load(scores + c) : hidden);
  }
  for (int64_t c = n; c < block.padded_cols(); c += lanes) {
    store(scores + c, Vector{});
  }
}

// Calls body(element of the dropout mask, count, offset of the element's score) for runs of scores
// that lie next to each other in the mask and in memory. They are the scores that the rows see and
// some beyond, which are 0 and stay 0. Short rows without gaps between them are one run: starting a
// run costs as much as 50 elements.
template <class Body>
void for_dropout_runs(const ScoreBlock& block, Body&& body) {
  constexpr int64_t short_row = 128;
  if (block.problem.keys <= short_row && block.cols == block.problem.keys &&
      block.cols == block.padded_cols()) {
    body(block.dropout_element(0), block.rows * block.cols, int64_t{0});
    return;
  }
  for (int64_t r = 0; r < block.rows; ++r) {
    const int64_t count = std::min(round_up(block.limit(r), panel), block.cols);
    body(block.dropout_element(r), count, r * block.padded_cols());
  }
}

}  // namespace heed::detail
