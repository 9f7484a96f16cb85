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

using detail::columns_of;
using detail::KernelInUse;
using detail::kernels_in_use;
using detail::Product;
using detail::rows_of;

std::atomic<int64_t> flops_so_far{0};

// One product on this thread, by the first kernel in use that takes it.
void run(const Product& p) {
  if (std::min(p.m, p.n) > 1 && p.k > 0) {
    for (const KernelInUse& kernel : kernels_in_use()) {
      if (kernel.products != nullptr && kernel.products->takes(p, kernel.forced)) {
        kernel.products->multiply(p);
        return;
      }
    }
  }
  detail::openblas_multiply(p);
}

double work_of(const Product& p) {
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

// Into how many tiles C is cut along its longer side; fixed numbers, they are part of the bits.
// Halving C along its longer side costs one thread 1 to 5%, along the shorter 5 to 20%. More tiles
// serve more threads: they are free while a tile is 384 long, cost 5 to 10% at 192, 30% below 64.
int64_t tiles_of(const Product& p) {
  constexpr int64_t most_tiles = 16;
  const int64_t longer = std::max(p.m, p.n);
  const bool vector = p.m == 1 || p.n == 1;  // reads a number from memory for each multiply-add
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

// one(tile of the product, row, column) for every tile.
template <class One>
void for_tiles(const Product& p, One&& one) {
  constexpr int64_t whole_vectors = 32;
  const bool by_rows = p.m >= p.n;
  const int64_t longer = std::max(p.m, p.n), tiles = tiles_of(p);
  const int64_t extent = detail::round_up((longer + tiles - 1) / tiles, whole_vectors);
  parallel_for(longer, extent, [&](int64_t begin, int64_t end) {
    if (by_rows) {
      one(rows_of(p, begin, end), begin, int64_t{0});
    } else {
      one(columns_of(p, begin, end), int64_t{0}, begin);
    }
  });
}

// Whether two halves of the depth are worth more than two of C: each reads half of both factors,
// where a half of C reads all of one, but the halves have to be added. A small product of great
// depth, as gradients of weights are, takes 0.55 to 0.95 of the time. One that is less deep has to
// be larger: 256 x 256 x 384 gains nothing, 512 x 512 x 768 takes 0.95.
bool halves_depth(const Product& p) {
  constexpr double least_work = 1 << 21, least_work_less_deep = 1 << 25;
  const int64_t longer = std::max(p.m, p.n);
  const double work = work_of(p);
  return std::min(p.m, p.n) > 1 && tiles_of(p) <= 2 &&
         ((p.k >= 2 * longer && work >= least_work) ||
          (2 * p.k >= 3 * longer && work >= least_work_less_deep));
}

// C becomes the first half; the other one, (m, n), is added to it.
void run_halves(const Product& p) {
  thread_local std::vector<real> memory;  // not from the pool: a loop's body may come here
  memory.resize(std::max(memory.size(), static_cast<size_t>(p.m * p.n)));
  real* const second = memory.data();
  const int64_t middle = detail::round_up(p.k / 2, 32);
  std::array halves{detail::depth_of(p, 0, middle), detail::depth_of(p, middle, p.k)};
  halves[1].c = second;
  halves[1].ldc = p.n;
  halves[1].beta = 0;
  parallel_for(2, 1, [&](int64_t begin, int64_t end) {
    std::for_each(halves.begin() + begin, halves.begin() + end, run);
  });
  parallel_for(p.m, row_grain(2 * p.n), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      real* const c = p.c + r * p.ldc;
      const real* const rest = second + r * p.n;
#pragma omp simd
      for (int64_t i = 0; i < p.n; ++i) {
        c[i] += rest[i];
      }
    }
  });
}

void run_parts(const Product& p) {
  if (halves_depth(p)) {
    run_halves(p);
  } else {
    for_tiles(p, [](const Product& tile, int64_t, int64_t) { run(tile); });
  }
}

void check_matrix(const char* name, int64_t columns, int64_t ld) {
  require(ld >= columns && ld >= 1 && ld <= INT_MAX, "gemm: expected a leading dimension of ", name,
          " from ", std::max<int64_t>(columns, 1), " to ", INT_MAX, ", got ", ld);
}

void check(const Product& p) {
  kernels_in_use();  // may throw, as bodies of loops must not
  require(std::min({p.m, p.n, p.k}) >= 0 && std::max({p.m, p.n, p.k}) <= INT_MAX,
          "gemm: expected dimensions from 0 to ", INT_MAX, ", got (", p.m, ", ", p.k, ") @ (", p.k,
          ", ", p.n, ")");
  check_matrix("A", p.ta == Trans::no ? p.k : p.m, p.lda);
  check_matrix("B", p.tb == Trans::no ? p.n : p.k, p.ldb);
  check_matrix("C", p.n, p.ldc);
}

}  // namespace

void gemm(Trans ta, Trans tb, int64_t m, int64_t n, int64_t k, real alpha, const real* a,
          int64_t lda, const real* b, int64_t ldb, real beta, real* c, int64_t ldc) {
  const Product p{ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc};
  check(p);
  count_flops(2 * m * n * k);
  if (!dry_run() && m > 0 && n > 0) {
    run_parts(p);
  }
}

void openblas_gemm(Trans ta, Trans tb, int64_t m, int64_t n, int64_t k, const real* a, int64_t lda,
                   const real* b, int64_t ldb, real* c, int64_t ldc) {
  const Product p{ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c, ldc};
  check(p);
  if (m > 0 && n > 0) {
    for_tiles(p, [](const Product& tile, int64_t, int64_t) { detail::openblas_multiply(tile); });
  }
}

void detail::gemm_then(Trans ta, Trans tb, int64_t m, int64_t n, int64_t k, const real* a,
                       int64_t lda, const real* b, int64_t ldb, real* c, int64_t ldc,
                       BlockDone done, void* context) {
  const Product p{ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c, ldc};
  check(p);
  count_flops(2 * m * n * k);
  if (!dry_run() && m > 0 && n > 0) {
    for_tiles(p, [=](const Product& tile, int64_t row, int64_t column) {
      run(tile);
      done(context, row, tile.m, column, tile.n);
    });
  }
}

void batched_gemm(int64_t batch, Trans ta, Trans tb, int64_t m, int64_t n, int64_t k, real alpha,
                  const real* a, int64_t lda, int64_t stride_a, const real* b, int64_t ldb,
                  int64_t stride_b, real beta, real* c, int64_t ldc, int64_t stride_c) {
  const Product first{ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc};
  check(first);
  require(batch >= 0, "batched_gemm: expected a batch of 0 or more, got ", batch);
  count_flops(2 * batch * m * n * k);
  if (dry_run() || m == 0 || n == 0) {
    return;
  }
  const auto item = [&](int64_t i) {
    Product p = first;
    p.a += i * stride_a;
    p.b += i * stride_b;
    p.c += i * stride_c;
    return p;
  };
  constexpr int64_t few = 4;
  if (batch < few) {
    for (int64_t i = 0; i < batch; ++i) {
      run_parts(item(i));
    }
    return;
  }
  constexpr int64_t chunk_work = int64_t{1} << 19;
  const int64_t grain = std::clamp<int64_t>(chunk_work / std::max<int64_t>(m * n * k, 1), 1, batch);
  parallel_for(batch, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      run(item(i));
    }
  });
}

int64_t flop_count() { return flops_so_far.load(std::memory_order_relaxed); }

void count_flops(int64_t flops) { flops_so_far.fetch_add(flops, std::memory_order_relaxed); }

}  // namespace heed
