#include "autograd/kernels/cut.h"

#include <algorithm>

namespace heed::detail {

namespace {

// Measured with one thread: halving C along its longer side costs 1 to 5%, along the shorter one 5
// to 20%. Tiles cost nothing while they are at least 384 long, 5 to 10% at 192, and 30% below 64.
int64_t tiles_by_shape(const Product& p) {
  constexpr int64_t most_tiles = 16;
  const int64_t longer = std::max(p.m(), p.n());
  const bool vector = p.m() == 1 || p.n() == 1;  // reads a number from memory for each multiply-add
  const double work = work_of(p);
  const double tile_work = vector ? 1 << 17 : 1 << 20;  // multiply-adds, about ten microseconds
  const auto worth = [&](int64_t tiles) {
    const bool heavy = tiles == 4 && work >= 1 << 29;
    const int64_t shortest = tiles == 2 ? 64 : heavy ? 192 : 384;
    return longer >= tiles * shortest && work >= static_cast<double>(tiles) * tile_work;
  };
  int64_t tiles = 1;
  while (tiles < most_tiles && worth(2 * tiles)) {
    tiles *= 2;
  }
  return tiles;
}

}  // namespace

Tiles Tiles::by_shape(const Product& p) {
  const int64_t tiles = tiles_by_shape(p);
  const bool by_rows = p.m() >= p.n();
  return {{p.m(), by_rows ? tiles : 1}, {p.n(), by_rows ? 1 : tiles}};
}

Tiles Tiles::for_threads(const Product& p, int64_t depth, int threads) {
  constexpr int64_t counts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
  Tiles best{{p.m()}, {p.n()}};
  if (threads == 1) {
    return best;
  }
  double least = best.cost(p.k(), threads);
  for (const int64_t rows : counts) {
    for (const int64_t columns : counts) {
      const Tiles grid{{p.m(), rows}, {p.n(), columns}};
      if (grid.count() > 4 * int64_t{threads} || !grid.is_allowed(depth)) {
        break;
      }
      if (const double c = grid.cost(p.k(), threads); c < least) {
        least = c;
        best = grid;
      }
    }
  }
  return best;
}

// Whether every tile is as large as smallest_part asks for.
bool Tiles::is_allowed(int64_t depth) const {
  return rows_.shortest() * columns_.shortest() * depth >= smallest_part;
}

// The time on `threads` threads, in multiply-adds of a large product. Packing its factors adds to
// each side of a tile as much as `packing` more rows or columns would.
double Tiles::cost(int64_t depth, int threads) const {
  constexpr double packing = 20;
  constexpr double tile_start = 1e5, region = 3e5;  // about one and three microseconds
  const auto m = static_cast<double>(rows_.longest()), n = static_cast<double>(columns_.longest());
  const double tile = (m * n + packing * (m + n)) * static_cast<double>(depth) + tile_start;
  const int64_t rounds = (count() + threads - 1) / threads;
  // A thread that other programs hold up delays the rest by a part of a tile.
  constexpr double delay = 0.05;
  return (static_cast<double>(rounds) + delay) * tile + (count() > 1 ? region : 0);
}

Block Tiles::block(int64_t tile) const {
  const int64_t i = tile / columns_.parts, j = tile % columns_.parts;
  const int64_t row = rows_.begin(i), column = columns_.begin(j);
  return {row, rows_.begin(i + 1) - row, column, columns_.begin(j + 1) - column};
}

// Splitting K halves the data that each thread reads, but the two partial results must be added.
// Measured against splitting C: small products of great depth, such as gradients of weights, take
// 0.55 to 0.95 of the time. With less depth only larger products gain: 512 x 512 x 768 takes 0.95,
// 256 x 256 x 384 gains nothing.
bool halves_depth(const Product& p) {
  constexpr double least_work = 1 << 21, least_work_less_deep = 1 << 25;
  const int64_t longer = std::max(p.m(), p.n());
  const double work = work_of(p);
  return std::min(p.m(), p.n()) > 1 && tiles_by_shape(p) <= 2 &&
         ((p.k() >= 2 * longer && work >= least_work) ||
          (2 * p.k() >= 3 * longer && work >= least_work_less_deep));
}

}  // namespace heed::detail
