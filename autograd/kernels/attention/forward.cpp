#include "autograd/kernels/attention/forward.h"

#include "autograd/kernels/attention/block_products.h"

namespace heed::detail {

namespace {

// The scratch memory of a task. During the loop over keys, row i of `sums` and `totals` are
// sum_j exp(S_ij - largest_i) times v_j and times 1, over the keys seen so far.
struct ForwardScratch {
  ForwardScratch(const AttentionProblem& p, real* memory)
      : arena(memory),
        keys(arena, p.keys, p.width),
        values(arena, p.keys, p.value_width),
        queries(arena, query_block, p.width),
        sums(arena.take(query_block * padded_width(p.value_width))),
        scores(arena.take(query_block * key_block)),
        largest(arena.take(query_block)),
        totals(arena.take(query_block * vector_block)) {}

  ScratchArena arena;
  PackedColumns keys;
  PackedRows values;
  PackedRows queries;  // a block of them, times scale
  real* sums;          // (query_block, padded dv)
  real* scores;        // (query_block, key_block) at most: S, then exp(S - largest)
  real* largest;       // (query_block)
  real* totals;        // (query_block, vector_block): the columns of a sum
};

real largest_of(const real* x, int64_t n) {
  Vector top = Vector{} + hidden_score;
  for (int64_t c = 0; c < n; c += lanes) {
    top = larger(load(x + c), top);
  }
  return largest_lane(top);
}

// x = exp(x - shift), n a multiple of key_step, added to the columns of sum[0 .. vector_block): x_j
// + x_(j + vector_block) at a time, two that hide each other's latency.
void exponentials(real* x, int64_t n, real shift, real* sum) {
  Vector total[column_vectors];
  for (int64_t v = 0; v < column_vectors; ++v) total[v] = load(sum + v * lanes);
  for (int64_t c = 0; c < n; c += 2 * vector_block) {
#pragma GCC unroll 4
    for (int64_t v = 0; v < column_vectors; ++v) {
      real* const at = x + c + v * lanes;
      const Vector low = exp_of(load(at) - shift);
      const Vector high = exp_of(load(at + vector_block) - shift);
      store(at, low);
      store(at + vector_block, high);
      total[v] += low + high;
    }
  }
  for (int64_t v = 0; v < column_vectors; ++v) store(sum + v * lanes, total[v]);
}

real total_of_row(const real* totals) {
  Vector columns[column_vectors];
  for (int64_t v = 0; v < column_vectors; ++v) columns[v] = load(totals + v * lanes);
  return sum_of_columns(columns);
}

// x *= factor, n a multiple of lanes.
void multiply(real* x, int64_t n, real factor) {
  for (int64_t k = 0; k < n; k += lanes) {
    store(x + k, load(x + k) * factor);
  }
}

// Replaces row r of scores, which holds S before soft_cap and alibi, by exp(S - largest). What was
// summed with an earlier, smaller `largest` is rescaled.
void online_softmax_row(const ScoreBlock& block, int64_t r, int64_t n, const ForwardScratch& s) {
  real* scores = s.scores + r * block.padded_cols();
  bend_and_hide(block, r, n, scores);
  scores += block.start(r);
  n -= block.start(r);
  const real before = s.largest[r];
  const real largest = std::max(before, largest_of(scores, n));
  if (before != hidden_score && before != largest) {
    const real shrink = exp_of(before - largest);
    const int64_t columns = padded_width(block.problem.value_width);
    multiply(s.sums + r * columns, columns, shrink);
    multiply(s.totals + r * vector_block, vector_block, shrink);
  }
  exponentials(scores, n, largest == hidden_score ? 0 : largest, s.totals + r * vector_block);
  s.largest[r] = largest;
}

// Consecutive queries of one head of one item.
struct QueryStrip {
  int64_t b, h, begin, end;
};

class ForwardPass {
 public:
  ForwardPass(const AttentionProblem& problem, const AttentionInputs& inputs, real* y,
              AttentionStatistics& statistics)
      : p_(problem),
        in_(inputs),
        y_(y),
        largest_(statistics.largest.mutable_data()),
        inverse_sum_(statistics.inverse_sum.mutable_data()),
        heads_(p_.batch * p_.heads),
        strip_length_(length_of_strips(heads_, p_.queries, query_block)),
        strips_((p_.queries + strip_length_ - 1) / strip_length_) {}

  void run(double flops) {
    for_each_task(strips_, heads_, flops, ForwardScratch(p_, nullptr).arena.used(),
                  [this](int64_t number, int64_t head, real* memory) {
                    run_strip(strip(number, head), ForwardScratch(p_, memory));
                  });
  }

 private:
  // Late queries see most keys, so they come first.
  QueryStrip strip(int64_t number, int64_t head) const {
    const int64_t begin = (strips_ - 1 - number) * strip_length_;
    return {head / p_.heads, head % p_.heads, begin, std::min(begin + strip_length_, p_.queries)};
  }

  void run_strip(const QueryStrip& strip, ForwardScratch s) {
    const int64_t keys = p_.visible(strip.end - 1), kv = p_.kv_head(strip.h);
    const int64_t first = first_panel(strip.begin);
    s.keys.pack(keys - first, 1, in_.k.at(strip.b, kv, first), in_.k.row);
    s.values.pack(0, keys - first, 1, in_.v.at(strip.b, kv, first), in_.v.row);
    for (int64_t i0 = strip.begin; i0 < strip.end; i0 += query_block) {
      const int64_t rows = std::min(query_block, strip.end - i0);
      s.queries.pack(0, rows, p_.scale, in_.q.at(strip.b, strip.h, i0), in_.q.row);
      std::fill_n(s.sums, rows * padded_width(p_.value_width), real{0});
      std::fill_n(s.totals, rows * vector_block, real{0});
      std::fill_n(s.largest, rows, hidden_score);
      for (int64_t j0 = first_panel(i0); j0 < keys; j0 += key_block) {
        const int64_t cols = std::min(key_block, keys - j0);
        const ScoreBlock block{p_, strip.b, strip.h, i0, rows, j0, cols};
        if (!block.hidden()) {
          run_block(block, j0 - first, s);
        }
      }
      finish_rows(strip, i0, rows, s);
    }
  }

  // The beginning of the panel that holds the first key which queries [i, T) see.
  int64_t first_panel(int64_t i) const { return p_.first_key(i) / panel * panel; }

  // `key` is the block's first key, counted from the first one that was packed.
  void run_block(const ScoreBlock& block, int64_t key, const ForwardScratch& s) const {
    score_rows(block, s.queries, 0, s.keys, key, s.scores,
               [&](int64_t r, int64_t n) { online_softmax_row(block, r, n, s); });
    if (!p_.dropout.is_identity()) {
      for_dropout_runs(block, [&](int64_t element, int64_t count, int64_t offset) {
        p_.dropout.multiply(element, count, s.scores + offset, s.scores + offset);
      });
    }
    add_weighted_rows(block, s.scores, s.values, key, s.sums);
  }

  void finish_rows(const QueryStrip& strip, int64_t i0, int64_t rows, const ForwardScratch& s) {
    const int64_t columns = padded_width(p_.value_width);
    for (int64_t r = 0; r < rows; ++r) {
      const bool empty = s.largest[r] == hidden_score;
      const real inverse = empty ? 0 : 1 / total_of_row(s.totals + r * vector_block);
      const int64_t row = (strip.b * p_.heads + strip.h) * p_.queries + i0 + r;
      largest_[row] = empty ? 0 : s.largest[r];
      inverse_sum_[row] = inverse;
      real* y = y_ + ((strip.b * p_.queries + i0 + r) * p_.heads + strip.h) * p_.value_width;
      const real* sums = s.sums + r * columns;
      for (int64_t k = 0; k < p_.value_width; ++k) {
        y[k] = sums[k] * inverse;
      }
    }
  }

  const AttentionProblem& p_;
  const AttentionInputs& in_;
  real* y_;
  real* largest_;
  real* inverse_sum_;
  int64_t heads_;
  int64_t strip_length_;
  int64_t strips_;
};

}  // namespace

void forward_pass(const AttentionProblem& p, const AttentionInputs& inputs, real* y,
                  AttentionStatistics& statistics) {
  ForwardPass(p, inputs, y, statistics).run(static_cast<double>(p.forward_flops()));
}

void weights_pass(const AttentionProblem& p, const AttentionInputs& inputs,
                  const AttentionStatistics& statistics, real* weights) {
  const real *largest = statistics.largest.data(), *inverse = statistics.inverse_sum.data();
  const int64_t heads = p.batch * p.heads;
  const double flops = 2.0 * static_cast<double>(heads * p.queries * p.keys * p.width);
  std::fill_n(weights, dry_run() ? 0 : heads * p.queries * p.keys, real{0});
  const auto run_head = [&](int64_t, int64_t head, real* memory) {
    const int64_t b = head / p.heads, h = head % p.heads;
    ForwardScratch s(p, memory);
    s.keys.pack(p.keys, 1, inputs.k.at(b, p.kv_head(h), 0), inputs.k.row);
    for (int64_t i0 = 0; i0 < p.queries; i0 += query_block) {
      const int64_t rows = std::min(query_block, p.queries - i0);
      s.queries.pack(0, rows, p.scale, inputs.q.at(b, h, i0), inputs.q.row);
      for (int64_t j0 = 0; j0 < p.keys; j0 += key_block) {
        const ScoreBlock block{p, b, h, i0, rows, j0, std::min(key_block, p.keys - j0)};
        if (block.hidden()) continue;
        score_rows(block, s.queries, 0, s.keys, j0, s.scores, [&](int64_t r, int64_t n) {
          real* scores = s.scores + r * block.padded_cols();
          const int64_t row = head * p.queries + i0 + r;
          const int64_t start = block.start(r);
          bend_and_hide(block, r, n, scores);
          exponentials(scores + start, n - start, largest[row], s.totals);
          for (int64_t c = start; c < block.limit(r); ++c) {
            weights[row * p.keys + j0 + c] = scores[c] * inverse[row];
          }
        });
      }
    }
  };
  for_each_task(1, heads, flops, ForwardScratch(p, nullptr).arena.used(), run_head);
}

}  // namespace heed::detail
