#include "autograd/array/permute.h"

#include <algorithm>

#include "autograd/threads/grain.h"
#include "autograd/threads/parallel.h"

namespace heed {

namespace {

struct Axis {
  int64_t extent = 1;
  int64_t from = 0;  // distance of neighbours in x
  int64_t to = 0;    // distance of neighbours in y
};

// The axes of y from the outermost, without those of extent 1, and with axes folded into one that
// are neighbours in x as well.
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

  // Where element i of the walked axes lies in x and in y.
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

// Rows that stay rows, as in (b, t, h, d) -> (b, h, t, d).
void copy_rows(Walk walk, const real* x, real* y) {
  const int64_t width = walk.at(walk.rank - 1).extent;
  walk.remove(walk.rank - 1);
  parallel_for(walk.size(), row_grain(width), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t from, to;
      walk.locate(r, from, to);
      std::copy_n(x + from, width, y + to);
    }
  });
}

constexpr int64_t tile = 16;

// y[i * row.to + j] = x[i + j * column.from], in tiles, so that both sides use whole cache lines.
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

// The last axis of x ends up elsewhere: a matrix transposition for each index of the other axes.
void transpose_matrices(Walk walk, const real* x, real* y) {
  const Axis column = walk.at(walk.rank - 1);  // contiguous in y
  int last = 0;                                // contiguous in x
  while (walk.at(last).from != 1) ++last;
  const Axis row = walk.at(last);
  walk.remove(walk.rank - 1);
  walk.remove(last);
  const int64_t strips = (row.extent + tile - 1) / tile;
  const int64_t grain = row_grain(tile * column.extent);
  parallel_for(walk.size() * strips, grain, [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s) {
      int64_t from, to;
      walk.locate(s / strips, from, to);
      const int64_t first = s % strips * tile;
      transpose_strip(row, column, first, std::min(row.extent, first + tile), x + from, y + to);
    }
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
