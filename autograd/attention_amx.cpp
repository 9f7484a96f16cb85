#include "autograd/attention_amx.h"

#ifdef HEED_AMX

namespace heed::detail {

namespace {

static_assert(key_step == block_side);

// body(first, rows, data, step) for 32 rows at a time, times factor.
template <class Body>
void for_scaled_rows(int64_t rows, int64_t width, real factor, const real* from, int64_t from_step,
                     Body&& body) {
  real scaled[block_side * AmxKernel::most_width];
  for (int64_t first = 0; first < rows; first += block_side, from += block_side * from_step) {
    const int64_t some = std::min(block_side, rows - first);
    if (factor == 1) {
      body(first, some, from, from_step);
    } else {
      pack_rows(some, width, factor, from, from_step, scaled);
      body(first, some, scaled, width);
    }
  }
}

// C += A B: `tiles` tiles of 32 lines of A, each split while the one before it is multiplied. The
// lines of tile i and its part of the depth are tile(i); row 0 of B is its row `row`.
template <class Tile>
void add_product(Splitter<AttentionFormat> splitter, int64_t tiles, Tile&& tile,
                 const AmxKernel::Rows& b, int64_t row, const AmxKernel::Work& work, real* c) {
  const auto start = [&](int64_t i) {
    const auto [lines, depth] = tile(i);
    splitter.start(lines, depth, work.panels[i % 2].at(0, 0));
  };
  start(0);
  for (int64_t i = 0; i < tiles; ++i) {
    splitter.finish();
    const bool more = i + 1 < tiles;
    if (more) {
      start(i + 1);
    }
    const Range depth = tile(i).second;
    const int64_t steps = blocks_in(depth.size);
    if (steps == 0) {
      continue;
    }
    Pace pace(more ? splitter.pieces() : 0,
              AttentionFormat::products * steps * (b.width() / block_side));
    for (int64_t column = 0; column < b.width(); column += block_side) {
      multiply_block<AttentionFormat>(
          steps, work.panels[i % 2].at(0, 0), b.at(column, row + depth.begin),
          c + i * block_side * b.width() + column, b.width(), true, [&] {
            if (pace.due()) {
              splitter.next_piece();
            }
          });
    }
  }
}

}  // namespace

bool AmxKernel::suits(const AttentionProblem& p) {
  constexpr int64_t least_size = 64 * 128;  // below, laying out costs more than is won
  const auto whole = [](int64_t width) { return width % block_side == 0 && width <= most_width; };
  return amx_format() != AmxFormat::none && whole(p.width) && whole(p.value_width) &&
         std::min(p.queries, p.keys) * std::min(p.width, p.value_width) >= least_size;
}

template <bool left>
void AmxKernel::Lines<left>::pack(int64_t first, int64_t rows, real factor, const real* from,
                                  int64_t from_step) {
  for_scaled_rows(rows, width_, factor, from, from_step,
                  [&](int64_t r, int64_t some, const real* data, int64_t step) {
                    Splitter<AttentionFormat> splitter(data, step, true, !left);
                    splitter.start({0, some}, {0, width_}, steps_.at(first + r, 0));
                    splitter.finish();
                  });
}

template class AmxKernel::Lines<true>;
template class AmxKernel::Lines<false>;

void AmxKernel::Rows::pack(int64_t first, int64_t rows, real factor, const real* from,
                           int64_t from_step) {
  for_scaled_rows(rows, width_, factor, from, from_step,
                  [&](int64_t r, int64_t some, const real* data, int64_t step) {
                    Splitter<AttentionFormat> splitter(data, step, false, false);
                    for (int64_t column = 0; column < width_; column += block_side) {
                      splitter.start({column, block_side}, {0, some}, steps_.at(column, first + r));
                      splitter.finish();
                    }
                  });
}

void AmxKernel::add_weighted_rows(const ScoreBlock& block, const real* a, const Rows& b,
                                  int64_t row, const Work& work, real* c) {
  add_product(
      {a, block.padded_cols(), true, false}, blocks_in(block.rows),
      [&](int64_t i) {
        const int64_t first = i * block_side;
        const int64_t rows = std::min(block_side, block.rows - first);
        const int64_t seen = block.limit(first + rows - 1);
        return std::pair(Range{first, rows}, Range{0, round_up(seen, block_side)});
      },
      b, row, work, c);
}

void AmxKernel::add_weighted_columns(const ScoreBlock& block, const real* a, const Rows& b,
                                     int64_t row, const Work& work, real* c) {
  add_product(
      {a, block.padded_cols(), false, true}, blocks_in(block.cols),
      [&](int64_t i) {
        const int64_t first = i * block_side;
        const int64_t r = block.first_row(first) / block_side * block_side;
        return std::pair(Range{first, std::min(block_side, block.cols - first)},
                         Range{r, block.rows - r});
      },
      b, row, work, c);
}

}  // namespace heed::detail

#endif
