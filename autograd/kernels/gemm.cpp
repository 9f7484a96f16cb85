#include "autograd/kernels/gemm.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <vector>

#include "autograd/base/error.h"
#include "autograd/base/modes.h"
#include "autograd/kernels/choice.h"
#include "autograd/kernels/openblas.h"
#include "autograd/threads/parallel.h"

namespace heed {

namespace {

using detail::KernelInUse;
using detail::kernels_in_use;
using detail::Product;
using detail::ProductKernel;

std::atomic<int64_t> flops_so_far{0};

// The first kernel in use that takes p. The last one is OpenBLAS.
const ProductKernel& kernel_for(const Product& p) {
  const std::span<const KernelInUse> kernels = kernels_in_use();
  if (std::min(p.m(), p.n()) > 1 && p.k() > 0) {
    for (const KernelInUse& kernel : kernels) {
      if (kernel.products->takes(p, kernel.forced)) {
        return *kernel.products;
      }
    }
  }
  return *kernels.back().products;
}

double work_of(const Product& p) {
  return static_cast<double>(p.m()) * static_cast<double>(p.n()) * static_cast<double>(p.k());
}

// The number of tiles into which C is cut along its longer side. It depends on the shape alone,
// since the bits depend on it. Measured with one thread: halving C along its longer side costs 1 to
// 5%, along the shorter one 5 to 20%. More tiles serve more threads. They cost nothing while a tile
// is at least 384 long, 5 to 10% at 192, and 30% below 64.
int64_t tiles_of(const Product& p) {
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

// The tiles of C: parts of its longer side.
class Tiles {
 public:
  explicit Tiles(const Product& p) : p_(p), by_rows_(p.m() >= p.n()) {
    constexpr int64_t whole_vectors = 32;
    const int64_t tiles = tiles_of(p);
    extent_ = detail::round_up((length() + tiles - 1) / tiles, whole_vectors);
  }

  int64_t length() const { return by_rows_ ? p_.m() : p_.n(); }
  int64_t extent() const { return extent_; }

  Product tile(int64_t begin, int64_t end) const {
    return by_rows_ ? p_.rows(begin, end) : p_.columns(begin, end);
  }
  Block block(int64_t begin, int64_t end) const {
    return by_rows_ ? Block{begin, end - begin, 0, p_.n()} : Block{0, p_.m(), begin, end - begin};
  }

 private:
  const Product& p_;
  bool by_rows_;
  int64_t extent_;
};

// True if splitting the K loop between two threads is faster than splitting C. Splitting K halves
// the data that each thread reads, but the two partial results must be added. Measured against
// splitting C: small products of great depth, such as gradients of weights, take 0.55 to 0.95 of
// the time. With less depth only larger products gain: 512 x 512 x 768 takes 0.95, 256 x 256 x 384
// gains nothing.
bool halves_depth(const Product& p) {
  constexpr double least_work = 1 << 21, least_work_less_deep = 1 << 25;
  const int64_t longer = std::max(p.m(), p.n());
  const double work = work_of(p);
  return std::min(p.m(), p.n()) > 1 && tiles_of(p) <= 2 &&
         ((p.k() >= 2 * longer && work >= least_work) ||
          (2 * p.k() >= 3 * longer && work >= least_work_less_deep));
}

// Computes the first half of the K loop into C and the second into a buffer (m, n), then adds that
// to C.
void run_halves(const Product& p) {
  thread_local std::vector<real> memory;  // not from the pool: called in bodies of loops, too
  memory.resize(std::max(memory.size(), static_cast<size_t>(p.m() * p.n())));
  const Matrix second(memory.data(), p.m(), p.n());
  const int64_t middle = detail::round_up(p.k() / 2, 32);
  std::array halves{p.depth(0, middle), p.depth(middle, p.k())};
  halves[1].c = second;
  halves[1].add = false;
  parallel_for(2, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Product& half = halves[static_cast<size_t>(i)];
      kernel_for(half).multiply(half);
    }
  });
  parallel_for(p.m(), row_grain(2 * p.n()), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      real* const c = p.c.data() + r * p.c.step();
      const real* const rest = second.data() + r * p.n();
#pragma omp simd
      for (int64_t i = 0; i < p.n(); ++i) {
        c[i] += rest[i];
      }
    }
  });
}

void check_matrix(const char* name, ConstMatrix m) {
  const int64_t length = m.is_transposed() ? m.rows() : m.columns();
  require(m.step() >= std::max<int64_t>(length, 1) && m.step() <= INT_MAX,
          "matrix product: expected rows of ", name, " in memory at a step from ",
          std::max<int64_t>(length, 1), " to ", INT_MAX, ", got ", m.step());
}

// If C is a transposed view, C^T = B^T A^T is computed instead.
Product checked(ConstMatrix a, ConstMatrix b, Into<Matrix> to) {
  kernels_in_use();  // may throw, as bodies of loops must not
  const Matrix c = to.c;
  if (c.is_transposed()) {
    return checked(b.transposed(), a.transposed(), {c.transposed(), to.add});
  }
  require(a.columns() == b.rows() && a.rows() == c.rows() && b.columns() == c.columns(),
          "matrix product: expected (m, k) @ (k, n) into (m, n), got (", a.rows(), ", ",
          a.columns(), ") @ (", b.rows(), ", ", b.columns(), ") into (", c.rows(), ", ",
          c.columns(), ")");
  require(std::min({a.rows(), a.columns(), b.columns()}) >= 0 &&
              std::max({a.rows(), a.columns(), b.columns()}) <= INT_MAX,
          "matrix product: expected dimensions from 0 to ", INT_MAX, ", got (", a.rows(), ", ",
          a.columns(), ") @ (", b.rows(), ", ", b.columns(), ")");
  check_matrix("A", a);
  check_matrix("B", b);
  check_matrix("C", c);
  return {a, b, c, to.add};
}

}  // namespace

void detail::multiply(ConstMatrix a, ConstMatrix b, Into<Matrix> to, Epilogue epilogue,
                      void* context) {
  require(epilogue == nullptr || !to.c.is_transposed(),
          "matrix product: an epilogue expects a C that is not transposed");
  const Product p = checked(a, b, to);
  count_flops(2 * p.m() * p.n() * p.k());
  if (dry_run() || p.m() == 0 || p.n() == 0) {
    return;
  }
  if (epilogue == nullptr && halves_depth(p)) {
    run_halves(p);
    return;
  }
  const Tiles tiles(p);
  parallel_for(tiles.length(), tiles.extent(), [&](int64_t begin, int64_t end) {
    const Product tile = tiles.tile(begin, end);
    kernel_for(tile).multiply(tile);
    if (epilogue != nullptr) {
      epilogue(context, tiles.block(begin, end));
    }
  });
}

void multiply(ConstMatrix a, ConstMatrix b, Into<Matrix> to) {
  detail::multiply(a, b, to, nullptr, nullptr);
}

void multiply_each(int64_t count, ConstMatrices a, ConstMatrices b, Into<Matrices> to) {
  require(count >= 0, "matrix products: expected 0 or more of them, got ", count);
  if (to.c.first.is_transposed()) {
    multiply_each(count, b.transposed(), a.transposed(), {to.c.transposed(), to.add});
    return;
  }
  constexpr int64_t few = 4;
  if (count < few) {
    for (int64_t i = 0; i < count; ++i) {
      multiply(a[i], b[i], into(to.c[i], to.add));
    }
    return;
  }
  const Product first = checked(a.first, b.first, {to.c.first, to.add});
  const int64_t work = first.m() * first.n() * first.k();
  count_flops(2 * count * work);
  if (dry_run() || first.m() == 0 || first.n() == 0) {
    return;
  }
  constexpr int64_t chunk_work = int64_t{1} << 19;
  const int64_t grain = std::clamp<int64_t>(chunk_work / std::max<int64_t>(work, 1), 1, count);
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Product p{a[i], b[i], to.c[i], to.add};
      kernel_for(p).multiply(p);
    }
  });
}

void multiply_by_openblas(ConstMatrix a, ConstMatrix b, Matrix c) {
  const Product p = checked(a, b, into(c));
  const Tiles tiles(p);
  parallel_for(tiles.length(), tiles.extent(), [&](int64_t begin, int64_t end) {
    detail::openblas_products.multiply(tiles.tile(begin, end));
  });
}

int64_t flop_count() { return flops_so_far.load(std::memory_order_relaxed); }

void count_flops(int64_t flops) { flops_so_far.fetch_add(flops, std::memory_order_relaxed); }

}  // namespace heed
