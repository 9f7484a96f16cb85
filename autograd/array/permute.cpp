#include "autograd/array/permute.h"

#include <algorithm>

#include "autograd/threads/parallel.h"

namespace heed {

namespace {

// A permutation is first simplified. Axes of extent 1 are dropped, and axes that are adjacent in
// both x and y are folded into one:
//   x (b, t, h, d), order (0, 2, 1, 3):  y (b, h, t, d), nothing to fold
//   x (b, t, h, d), order (2, 3, 0, 1):  y (h d, b t), two axes: one matrix transposition
// One of three cases is left: at most one axis (a reshape), the last axis stays last (rows are
// copied whole), or it moves (matrices are transposed in tiles).

struct Axis {
  int64_t extent = 1;
  int64_t from = 0;  // stride in x
  int64_t to = 0;    // stride in y
};

// The simplified axes in the order of y, outermost first.
struct Walk {
  std::array<Axis, Shape::max_rank> axes{};
  int rank = 0;

  Walk(const Shape& x, const AxisOrder& order) {
    for (int k = 0; k < x.rank(); ++k) {
      const int axis = order[static_cast<size_t>(k)];
      if (x[axis] != 1) {
        push(x[axis], x.size_between(axis + 1, x.rank()));
      }
    }
    int64_t to = 1;
    for (int k = rank - 1; k >= 0; --k) {
      at(k).to = to;
      to *= at(k).extent;
    }
  }

  Axis& at(int k) { return axes[static_cast<size_t>(k)]; }
  const Axis& at(int k) const { return axes[static_cast<size_t>(k)]; }

  void remove(int k) {
    std::copy(axes.begin() + k + 1, axes.begin() + rank, axes.begin() + k);
    --rank;
  }

  int64_t size() const {
    int64_t product = 1;
    for (int k = 0; k < rank; ++k) product *= at(k).extent;
    return product;
  }

  // The offsets in x and y of element i, counted over the axes of the walk.
  void locate(int64_t i, int64_t& from, int64_t& to) const {
    from = to = 0;
    for (int k = rank - 1; k >= 0; --k) {
      const int64_t index = i % at(k).extent;
      i /= at(k).extent;
      from += index * at(k).from;
      to += index * at(k).to;
    }
  }

 private:
  void push(int64_t extent, int64_t from) {
    if (rank > 0 && at(rank - 1).from == extent * from) {
      at(rank - 1).extent *= extent;
      at(rank - 1).from = from;
      return;
    }
    at(rank++) = {extent, from, 0};
  }
};

// The last axis stays last, as in (b, t, h, d) -> (b, h, t, d): copies row by row.
void copy_rows(Walk walk, const real* x, real* y) {
  const int64_t width = walk.at(walk.rank - 1).extent;
  walk.remove(walk.rank - 1);
  parallel_each(walk.size(), row_grain(width), [&](int64_t r) {
    int64_t from, to;
    walk.locate(r, from, to);
    std::copy_n(x + from, width, y + to);
  });
}

constexpr int64_t tile = 16;

// y[i * row.to + j] = x[i + j * column.from] for i in [first, last) and all j:
//
//            i ->                   j ->
//   x   j  [ . . . . ]     y   i  [ . . . . ]     x is contiguous along i, y along j
//       |  [ . . . . ]         |  [ . . . . ]
//
// A tile of 16 x 16 is read and written before the next one, so that each cache line of either side
// (16 floats) is used completely while it is in the cache.
void transpose_strip(const Axis& row, const Axis& column, int64_t first, int64_t last,
                     const real* x, real* y) {
  for (int64_t j0 = 0; j0 < column.extent; j0 += tile) {
    const int64_t j1 = std::min(column.extent, j0 + tile);
    for (int64_t i = first; i < last; ++i) {
      for (int64_t j = j0; j < j1; ++j) {
        y[i * row.to + j] = x[i + j * column.from];
      }
    }
  }
}

// The last axis of x moves: one matrix transposition for each index of the other axes. The unit of
// parallel work is a strip of `tile` rows of y.
void transpose_matrices(Walk walk, const real* x, real* y) {
  const Axis column = walk.at(walk.rank - 1);  // contiguous in y
  int last = 0;                                // contiguous in x
  while (walk.at(last).from != 1) ++last;
  const Axis row = walk.at(last);
  walk.remove(walk.rank - 1);
  walk.remove(last);
  const int64_t strips = (row.extent + tile - 1) / tile;
  const int64_t grain = row_grain(tile * column.extent);
  parallel_each(walk.size() * strips, grain, [&](int64_t s) {
    int64_t from, to;
    walk.locate(s / strips, from, to);
    const int64_t first = s % strips * tile;
    transpose_strip(row, column, first, std::min(row.extent, first + tile), x + from, y + to);
  });
}

}  // namespace

AxisOrder inverse_order(const AxisOrder& order, int rank) {
  AxisOrder inverse{};
  for (int k = 0; k < rank; ++k) {
    inverse[static_cast<size_t>(order[static_cast<size_t>(k)])] = k;
  }
  return inverse;
}

Array permuted(const Array& x, const AxisOrder& order) {
  std::array<int64_t, Shape::max_rank> dims{};
  for (int k = 0; k < x.rank(); ++k) {
    dims[static_cast<size_t>(k)] = x.dim(order[static_cast<size_t>(k)]);
  }
  const Shape shape(std::span(dims.data(), static_cast<size_t>(x.rank())));
  const Walk walk(x.shape(), order);
  if (x.size() == 0 || walk.rank <= 1) {
    return x.reshaped(shape);  // only axes of extent 1 moved
  }
  Array y = Array::uninitialised(shape);
  if (walk.at(walk.rank - 1).from == 1) {
    copy_rows(walk, x.data(), y.mutable_data());
  } else {
    transpose_matrices(walk, x.data(), y.mutable_data());
  }
  return y;
}

}  // namespace heed
