#include "autograd/kernels/attention/backward.h"

#include "autograd/kernels/attention/block_products.h"
#include "autograd/kernels/row_math.h"

namespace heed::detail {

namespace {

// A task is a strip of the keys of one key head, with all queries that see the strip, in all query
// heads that share the key head. So dK and dV of the strip belong to one task. dQ of a row is a sum
// over strips: each strip accumulates its part separately, and the parts are added in the order of
// the strips. With enough heads there is one strip per head.
struct KeyStrip {
  int64_t b, kv, number, begin, end;
  int64_t keys() const { return end - begin; }
};

// The scratch memory of a task: (keys of the strip, ...), (T, ...) or a block.
struct BackwardScratch {
  BackwardScratch(const AttentionProblem& p, int64_t strip_length, bool own_dq, real* memory)
      : arena(memory),
        k_columns(arena, strip_length, p.width),
        v_columns(arena, strip_length, p.value_width),
        k_rows(arena, strip_length, p.width),
        q(arena, p.queries, p.width),
        dy(arena, p.queries, p.value_width),
        dk(arena.take(strip_length * padded_width(p.width))),
        dv(arena.take(strip_length * padded_width(p.value_width))),
        dots(arena.take(p.queries)),
        dq(own_dq ? arena.take(p.queries * padded_width(p.width)) : nullptr),
        weights(arena.take(query_block * key_block)),
        dscores(arena.take(query_block * key_block)),
        bent(p.soft_cap > 0 ? arena.take(query_block * key_block) : nullptr) {}

  ScratchArena arena;
  PackedColumns k_columns;
  PackedColumns v_columns;  // times the dropout mask's factor
  PackedRows k_rows;
  PackedRows q;  // times scale
  PackedRows dy;
  real* dk;       // dS^T Q scale, so far
  real* dv;       // kept P^T dY, so far
  real* dots;     // y_i . dy_i = sum_j P_ij dP_ij, for more than one block of keys
  real* dq;       // dS K, so far
  real* weights;  // P, negative where dropped; then 0 there
  real* dscores;  // dP, then dS
  real* bent;     // the slopes of soft_cap, or null
};

// Replaces row r of `weights`, which holds the scores before soft_cap and alibi, by P.
void softmax_row(const ScoreBlock& block, int64_t r, int64_t n, real largest, real inverse_sum,
                 const BackwardScratch& s) {
  const int64_t row = r * block.padded_cols();
  real* weights = s.weights + row;
  bend_and_hide(block, r, n, weights, s.bent == nullptr ? s.bent : s.bent + row);
  for (int64_t c = block.start(r); c < n; c += lanes) {
    store(weights + c, exp_of(load(weights + c) - largest) * inverse_sum);
  }
}

// Returns sum_j P_ij dP_ij of row r. If the block holds all keys, it is computed from the same dP
// that it is then subtracted from: if one weight is nearly 1, the rounding errors cancel, and if it
// is 1, dS is 0. Otherwise it is y_i . dy_i, the same number with other rounding errors.
real softmax_dot(const ScoreBlock& block, int64_t r, int64_t n, const BackwardScratch& s) {
  if (block.cols < block.problem.keys) {
    return s.dots[block.i0 + r];
  }
  const real* weights = s.weights + r * block.padded_cols();
  const real* dweights = s.dscores + r * block.padded_cols();
  Vector dot[column_vectors] = {};
  for (int64_t c = block.start(r); c < n; c += vector_block) {
#pragma GCC unroll 4
    for (int64_t v = 0; v < column_vectors; ++v) {
      const int64_t at = c + v * lanes;
      dot[v] = multiply_add(larger(load(weights + at), Vector{}), load(dweights + at), dot[v]);
    }
  }
  return sum_of_columns(dot);
}

// Row r of dS, from P in `weights` and dy_i . v_j in `dscores`:
//   dP_ij = m_ij dy_i . v_j,  dS_ij = P_ij (dP_ij - sum_k P_ik dP_ik), times the slope of soft_cap
// A weight that was dropped is passed as -P_ij and replaced by 0.
void softmax_gradient_row(const ScoreBlock& block, int64_t r, int64_t n, const BackwardScratch& s) {
  const int64_t start = block.start(r);
  real* weights = s.weights + r * block.padded_cols();
  real* dscores = s.dscores + r * block.padded_cols();
  const real* const bent = s.bent == nullptr ? s.bent : s.bent + r * block.padded_cols();
  const auto put = [&](int64_t c, Vector dscore) {
    store(dscores + c, bent == nullptr ? dscore : dscore * load(bent + c));
  };
  const real dot = softmax_dot(block, r, n, s);
  const Vector none = {};
  if (block.problem.dropout.is_identity()) {
    for (int64_t c = start; c < n; c += lanes) {
      put(c, load(weights + c) * (load(dscores + c) - dot));
    }
  } else {
    for (int64_t c = start; c < n; c += lanes) {
      const Vector weight = load(weights + c);
      const Vector dweight = weight > none ? load(dscores + c) : none;
      store(weights + c, none > weight ? none : weight);  // a NaN stays
      put(c, larger(weight, -weight) * (dweight - dot));
    }
  }
  for (int64_t c = 0; c < start; c += lanes) {
    store(dscores + c, none);
  }
  for (int64_t c = n; c < block.padded_cols(); c += lanes) {
    store(weights + c, none);
    store(dscores + c, none);
  }
}

// to = or += factor * from, row by row; `from` has padded rows.
void put_rows(int64_t rows, int64_t width, real factor, const real* from, real* to, int64_t to_step,
              bool add) {
  for (int64_t r = 0; r < rows; ++r, from += padded_width(width), to += to_step) {
    if (add) {
      for (int64_t k = 0; k < width; ++k) to[k] = multiply_add(factor, from[k], to[k]);
    } else {
      for (int64_t k = 0; k < width; ++k) to[k] = factor * from[k];
    }
  }
}

class BackwardPass {
 public:
  BackwardPass(const AttentionProblem& problem, const AttentionInputs& inputs,
               const AttentionStatistics& statistics, const real* y, const real* dy,
               const AttentionGradients& gradients)
      : p_(problem),
        in_(inputs),
        largest_(statistics.largest.data()),
        inverse_sum_(statistics.inverse_sum.data()),
        y_(y),
        dy_(dy),
        out_(gradients),
        heads_(p_.batch * p_.kv_heads),
        strip_length_(length_of_strips(heads_, p_.keys, key_block)),
        strips_(std::max<int64_t>((p_.keys + strip_length_ - 1) / strip_length_, 1)) {
    if (strips_ > 1 && out_.dq.rows.data != nullptr) {
      dq_parts_ =
          Array::uninitialised({strips_, p_.batch, p_.heads, p_.queries, padded_width(p_.width)});
      parts_ = dq_parts_.mutable_data();
    }
  }

  void run(double flops) {
    const bool own_dq = strips_ == 1;
    const int64_t size = BackwardScratch(p_, strip_length_, own_dq, nullptr).arena.used();
    for_each_task(strips_, heads_, flops, size, [&](int64_t number, int64_t head, real* memory) {
      run_strip(strip(number, head), BackwardScratch(p_, strip_length_, own_dq, memory));
    });
    parallel_each(parts_ == nullptr ? 0 : p_.batch * p_.heads, 1,
                  [&](int64_t head) { add_parts(head / p_.heads, head % p_.heads); });
  }

 private:
  // Early keys are seen by most queries, so they come first.
  KeyStrip strip(int64_t number, int64_t head) const {
    const int64_t begin = number * strip_length_;
    return {head / p_.kv_heads, head % p_.kv_heads, number, begin,
            std::min(begin + strip_length_, p_.keys)};
  }

  void run_strip(const KeyStrip& strip, BackwardScratch s) const {
    const int64_t keys = strip.keys();
    const real* k = in_.k.at(strip.b, strip.kv, strip.begin);
    s.k_columns.pack(keys, 1, k, in_.k.row);
    s.k_rows.pack(0, keys, 1, k, in_.k.row);
    s.v_columns.pack(keys, p_.dropout.factor(), in_.v.at(strip.b, strip.kv, strip.begin),
                     in_.v.row);
    std::fill_n(s.dk, keys * padded_width(p_.width), real{0});
    std::fill_n(s.dv, keys * padded_width(p_.value_width), real{0});
    const int64_t group = p_.heads / p_.kv_heads;
    for (int64_t h = strip.kv * group; h < (strip.kv + 1) * group; ++h) {
      run_head(strip, h, s);
    }
    if (out_.dk.rows.data != nullptr) {
      put_rows(keys, p_.width, 1, s.dk, out_.dk.rows.at(strip.b, strip.kv, strip.begin),
               out_.dk.rows.row, out_.dk.add);
    }
    if (out_.dv.rows.data != nullptr) {
      put_rows(keys, p_.value_width, p_.dropout.factor(), s.dv,
               out_.dv.rows.at(strip.b, strip.kv, strip.begin), out_.dv.rows.row, out_.dv.add);
    }
  }

  void run_head(const KeyStrip& strip, int64_t h, BackwardScratch& s) const {
    const int64_t d = padded_width(p_.width);
    const int64_t first = first_query(strip.begin), end = p_.last_query(strip.begin, strip.end);
    pack_head(strip.b, h, first, end, s);
    real* dq = parts_ == nullptr ? s.dq : part(strip.number, strip.b, h);
    if (dq != nullptr) {
      const int64_t from = strip.number == 0 ? 0 : first;
      std::fill_n(dq + from * d, (end - from) * d, real{0});
    }
    for (int64_t j0 = strip.begin; j0 < strip.end; j0 += key_block) {
      const int64_t cols = std::min(key_block, strip.end - j0);
      for (int64_t i0 = first_query(j0); i0 < p_.last_query(j0, j0 + cols); i0 += query_block) {
        const int64_t rows = std::min(query_block, end - i0);
        const ScoreBlock block{p_, strip.b, h, i0, rows, j0, cols};
        if (!block.hidden()) {
          run_block(block, j0 - strip.begin, s, dq);
        }
      }
    }
    if (parts_ == nullptr && out_.dq.rows.data != nullptr) {
      put_rows(p_.queries, p_.width, p_.scale, dq, out_.dq.rows.at(strip.b, h, 0), out_.dq.rows.row,
               out_.dq.add);
    }
  }

  // The beginning of the block that holds the first query to see key j.
  int64_t first_query(int64_t j) const {
    const int64_t i = p_.causal ? std::max<int64_t>(0, j - (p_.keys - p_.queries)) : 0;
    return i / query_block * query_block;
  }

  // Packs the rows of Q and dY of queries [first, end), and computes their y . dY.
  void pack_head(int64_t b, int64_t h, int64_t first, int64_t end, BackwardScratch& s) const {
    const int64_t row = p_.heads * p_.value_width, rows = end - first;
    const int64_t offset = (b * p_.queries + first) * row + h * p_.value_width;
    s.q.pack(first, rows, p_.scale, in_.q.at(b, h, first), in_.q.row);
    s.dy.pack(first, rows, 1, dy_ + offset, row);
    for (int64_t i = 0; i < rows && p_.keys > key_block; ++i) {
      const real *y = y_ + offset + i * row, *dy = dy_ + offset + i * row;
      s.dots[first + i] = row_dot(y, dy, p_.value_width);
    }
  }

  // `key` is the block's first key, counted from the start of the strip.
  void run_block(const ScoreBlock& block, int64_t key, const BackwardScratch& s, real* dq) const {
    const int64_t d = padded_width(p_.width), dv = padded_width(p_.value_width);
    const int64_t row = (block.b * p_.heads + block.h) * p_.queries + block.i0;
    score_rows(block, s.q, block.i0, s.k_columns, key, s.weights, [&](int64_t r, int64_t n) {
      softmax_row(block, r, n, largest_[row + r], inverse_sum_[row + r], s);
    });
    if (!p_.dropout.is_identity()) {
      for_dropout_runs(block, [&](int64_t element, int64_t count, int64_t offset) {
        p_.dropout.sign(element, count, s.weights + offset, s.weights + offset);
      });
    }
    score_rows(block, s.dy, block.i0, s.v_columns, key, s.dscores,
               [&](int64_t r, int64_t n) { softmax_gradient_row(block, r, n, s); });
    if (out_.dv.rows.data != nullptr) {
      add_weighted_columns(block, s.weights, s.dy, block.i0, s.dv + key * dv);
    }
    if (out_.dk.rows.data != nullptr) {
      add_weighted_columns(block, s.dscores, s.q, block.i0, s.dk + key * d);
    }
    if (out_.dq.rows.data != nullptr) {
      add_weighted_rows(block, s.dscores, s.k_rows, key, dq + block.i0 * d);
    }
  }

  real* part(int64_t strip, int64_t b, int64_t h) const {
    const int64_t head = (strip * p_.batch + b) * p_.heads + h;
    return parts_ + head * p_.queries * padded_width(p_.width);
  }

  // dQ = scale * the sum of its parts. A part is 0 before the first query that sees its strip, and
  // not there after the last.
  void add_parts(int64_t b, int64_t h) const {
    int64_t done = 0;  // queries that have a part already
    for (int64_t n = 0; n < strips_; ++n) {
      const int64_t key = n * strip_length_;
      const int64_t end = p_.last_query(key, std::min(key + strip_length_, p_.keys));
      const auto put = [&](int64_t from, int64_t to, bool add) {
        put_rows(to - from, p_.width, p_.scale, part(n, b, h) + from * padded_width(p_.width),
                 out_.dq.rows.at(b, h, from), out_.dq.rows.row, add);
      };
      put(n == 0 ? 0 : first_query(key), std::min(done, end), true);
      put(done, end, out_.dq.add);
      done = std::max(done, end);
    }
  }

  const AttentionProblem& p_;
  const AttentionInputs& in_;
  const real *largest_, *inverse_sum_, *y_, *dy_;
  const AttentionGradients& out_;
  int64_t heads_;
  int64_t strip_length_;
  int64_t strips_;
  Array dq_parts_;  // (strips, B, H, T, padded d), when there is more than one strip
  real* parts_ = nullptr;
};

}  // namespace

void backward_pass(const AttentionProblem& p, const AttentionInputs& inputs,
                   const AttentionStatistics& statistics, const real* y, const real* dy,
                   const AttentionGradients& gradients) {
  BackwardPass(p, inputs, statistics, y, dy, gradients)
      .run(static_cast<double>(2 * p.forward_flops()));
}

}  // namespace heed::detail
