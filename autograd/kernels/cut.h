// How a matrix product is cut into tiles of C that threads share.
//
// Cutting C must not change its bits. Our own kernels sum every number of C in the order of the
// depth k, wherever a tile begins and ends. Then the number of tiles follows the number of threads.
// OpenBLAS computes the rows and columns that its register tiles leave over by other code: its cut
// depends on the shape alone. So does the cut of the depth, which changes the order of the sum.
#pragma once

#include "autograd/kernels/gemm.h"
#include "autograd/kernels/product.h"

namespace heed::detail {

// [0, length) in `parts` parts that begin at whole vectors. Their sizes differ by at most two.
struct Parts {
  static constexpr int64_t vector = 32;  // numbers: of every width, so that no lane is idle
  int64_t length = 0, parts = 1;

  int64_t begin(int64_t i) const {
    return i == parts ? length : length * i / parts / vector * vector;
  }
  int64_t shortest() const { return parts == 1 ? length : length / parts / vector * vector; }
  int64_t longest() const { return parts == 1 ? length : length - begin(parts - 1); }
};

// The tiles of C: a grid of parts of its rows and columns.
class Tiles {
 public:
  // By the shape alone: parts of the longer side.
  static Tiles by_shape(const Product& p);
  // As many as keep `threads` threads busy, unless they become so small that cutting costs more
  // than it gains. `depth`: the least one that is computed by these tiles, which the second half of
  // a product may not share with p, the first.
  static Tiles for_threads(const Product& p, int64_t depth, int threads);

  int64_t count() const { return rows_.parts * columns_.parts; }
  // Tiles that follow each other share their rows: a thread keeps its part of A.
  Block block(int64_t tile) const;

 private:
  Tiles(Parts rows, Parts columns) : rows_(rows), columns_(columns) {}
  bool is_allowed(int64_t depth) const;
  double cost(int64_t depth, int threads) const;

  Parts rows_, columns_;
};

// Multiply-adds that are worth a tile of their own.
inline constexpr int64_t smallest_part = 1 << 20;

inline double work_of(const Product& p) {  // multiply-adds
  return static_cast<double>(p.m()) * static_cast<double>(p.n()) * static_cast<double>(p.k());
}

inline Product part_of(const Product& p, const Block& b) {
  return p.rows(b.row, b.row + b.rows).columns(b.column, b.column + b.columns);
}

// True if splitting the depth k between two halves is faster than cutting C.
bool halves_depth(const Product& p);

}  // namespace heed::detail
