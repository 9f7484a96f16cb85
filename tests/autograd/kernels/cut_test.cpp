#include "autograd/kernels/cut.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "autograd/kernels/choice.h"
#include "autograd/random/generator.h"

namespace {

using heed::Block;
using heed::ConstMatrix;
using heed::Generator;
using heed::Matrix;
using heed::real;
using heed::Trans;
using heed::detail::Product;
using heed::detail::ProductKernel;
using heed::detail::Tiles;

struct Sides {
  int64_t m, n, k;
};

// The numbers of a product C (m, n) = A (m, k) B (k, n).
class Numbers {
 public:
  Numbers(const Sides& s, Trans ta, Trans tb, bool add, Generator& generator)
      : sides_(s), ta_(ta), tb_(tb), add_(add) {
    for (const auto& [numbers, count] :
         {std::pair(&a_, s.m * s.k), std::pair(&b_, s.k * s.n), std::pair(&start_, s.m * s.n)}) {
      // fill_uniform draws 24 bits: in float64, sums of products of those would be exact.
      numbers->resize(static_cast<size_t>(count));
      for (real& number : *numbers) number = static_cast<real>(2 * generator.u53() - 1);
    }
  }

  // C, computed tile by tile.
  std::vector<real> in_tiles(const ProductKernel& kernel, const Tiles& tiles) const {
    std::vector<real> c = start_;
    for (int64_t i = 0; i < tiles.count(); ++i) {
      kernel.multiply(part_of(product(c), tiles.block(i)));
    }
    return c;
  }
  Product product(std::vector<real>& c) const {
    return {view(a_, ta_, sides_.m, sides_.k), view(b_, tb_, sides_.k, sides_.n),
            Matrix(c.data(), sides_.m, sides_.n), add_};
  }

 private:
  static ConstMatrix view(const std::vector<real>& numbers, Trans t, int64_t rows,
                          int64_t columns) {
    if (t == Trans::yes) std::swap(rows, columns);
    return ConstMatrix(numbers.data(), rows, columns).transposed(t);
  }

  Sides sides_;
  Trans ta_, tb_;
  bool add_;
  std::vector<real> a_, b_, start_;
};

bool same_bits(const std::vector<real>& a, const std::vector<real>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(real)) == 0;
}

// The products of these sides, in every transposition, added or not, cut for 2 to 16 threads: how
// many have more tiles than for one thread, and how many have other bits.
struct Count {
  int64_t cut = 0, changed = 0;
};
Count count_changed(const ProductKernel& kernel, const Sides& sides) {
  Generator generator(1);
  Count count;
  for (int i = 0; i < 8; ++i) {
    const Numbers numbers(sides, Trans(i & 1), Trans(i >> 1 & 1), (i >> 2 & 1) != 0, generator);
    std::vector<real> whole(static_cast<size_t>(sides.m * sides.n));
    const auto alone = Tiles::for_threads(numbers.product(whole), sides.k, 1);
    whole = numbers.in_tiles(kernel, alone);
    for (const int threads : {2, 5, 16}) {
      const auto tiles = Tiles::for_threads(numbers.product(whole), sides.k, threads);
      count.cut += tiles.count() > alone.count();
      count.changed += !same_bits(numbers.in_tiles(kernel, tiles), whole);
    }
  }
  return count;
}

// Odd sides and depths, small enough for a sanitizer.
const Sides several[] = {{300, 517, 63}, {257, 260, 130}, {129, 515, 200}, {131, 200, 401}};

}  // namespace

TEST_CASE("cut: tiles cover C once, begin at whole vectors and are no smaller than is worth it") {
  int64_t most = 0;
  for (const Sides& s : {Sides{768, 384, 128},
                         {2048, 1536, 384},
                         {64, 64, 64},
                         {63, 900, 900},
                         {1000, 70, 2000},
                         {256, 50257, 768},
                         {2, 2, 1}}) {
    for (const int threads : {1, 2, 3, 4, 7, 8, 16, 64}) {
      const Product p{ConstMatrix(nullptr, s.m, s.k), ConstMatrix(nullptr, s.k, s.n),
                      Matrix(nullptr, s.m, s.n)};
      const auto tiles = Tiles::for_threads(p, s.k, threads);
      int64_t covered = 0;
      for (int64_t i = 0; i < tiles.count(); ++i) {
        const Block b = tiles.block(i);
        covered += b.rows * b.columns;
        CHECK(b.row % 32 == 0);
        CHECK(b.column % 32 == 0);
        if (tiles.count() > 1) CHECK(b.rows * b.columns * s.k >= heed::detail::smallest_part);
        CHECK(b.row + b.rows <= s.m);
        CHECK(b.column + b.columns <= s.n);
      }
      CHECK(covered == s.m * s.n);
      most = std::max(most, tiles.count());
      if (threads == 1) CHECK(tiles.count() == 1);
    }
  }
  CHECK(most >= 64);
}

TEST_CASE("cut: the bits of a product do not depend on the number of threads it is cut for") {
  for (const heed::detail::KernelEntry& entry : heed::detail::all_kernels()) {
    if (!entry.available() || !entry.products->any_tiles) {
      const std::string why = entry.available() ? "cut by the shape alone" : "not available here";
      MESSAGE("skipped: ", std::string(entry.name), " is ", why);
      continue;
    }
    for (const Sides& sides : several) {
      CAPTURE(std::string(entry.name));
      CAPTURE(sides.m);
      CAPTURE(sides.n);
      const Count count = count_changed(*entry.products, sides);
      CHECK(count.cut > 0);
      CHECK(count.changed == 0);
    }
  }
}

namespace {

// Adds up in another order where C is narrow, as a kernel for small products may.
void multiply_in_two_ways(const Product& p) {
  for (int64_t i = 0; i < p.m(); ++i) {
    for (int64_t j = 0; j < p.n(); ++j) {
      real sum = 0;
      for (int64_t l = 0; l < p.k(); ++l) {
        const int64_t k = p.n() < 200 ? p.k() - 1 - l : l;
        const auto number = [](ConstMatrix x, int64_t r, int64_t c) {
          return *x.rows(r, r + 1).columns(c, c + 1).data();
        };
        sum += number(p.a, i, k) * number(p.b, k, j);
      }
      real& c = *p.c.rows(i, i + 1).columns(j, j + 1).data();
      c = p.add ? c + sum : sum;
    }
  }
}

}  // namespace

TEST_CASE("cut: a kernel whose bits depend on the size of a tile is found") {
  const Count count = count_changed({multiply_in_two_ways, true}, {200, 300, 200});
  CHECK(count.changed > 0);
}
