// Where a product may be cut so that every number of C keeps its bits. The table in
// autograd/kernels/README.md comes from here.
//
//     OPENBLAS_CORETYPE=Haswell build/release/blas_granule      (unset: the kernel of this CPU)
//     OPENBLAS_CORETYPE=Haswell build/release/blas_granule-f64
//
// For each granule g, C is computed as a whole and once more in parts of g rows, of g columns, and
// of both. The last part takes what is left, so it is g to 2 g - 1 long. Parts of fewer than 2^20
// multiply-adds are not tried: OpenBLAS has other kernels for them. A g that never changed a bit,
// nor any multiple of it, can be the granule.
#include <cstdio>
#include <cstring>
#include <vector>

#include "autograd/kernels/blas_info.h"
#include "autograd/kernels/choice.h"
#include "autograd/kernels/openblas.h"
#include "autograd/random/generator.h"

namespace {

using namespace heed;
using heed::detail::Product;

constexpr int64_t granules[] = {16, 32, 48, 64, 96, 128, 192, 256, 384};

struct Case {
  Trans ta, tb;
  int64_t m, n, k;
  bool add;
};

std::vector<Case> cases(Generator& generator) {
  std::vector<Case> all;
  const auto below = [&](int64_t n) { return static_cast<int64_t>(generator.random32() % n); };
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{{768, 384, 128},
                                                                   {768, 128, 512},
                                                                   {512, 128, 768},
                                                                   {2048, 1536, 384},
                                                                   {256, 3072, 768},
                                                                   {768, 65, 128},
                                                                   {65, 128, 768},
                                                                   {384, 384, 384},
                                                                   {130, 1029, 63},
                                                                   {77, 130, 64}}) {
    for (int t = 0; t < 8; ++t) {
      all.push_back({Trans(t & 1), Trans(t >> 1 & 1), m, n, k, (t >> 2 & 1) != 0});
    }
  }
  for (int i = 0; i < 400; ++i) {
    const auto flags = generator.random32();
    all.push_back({Trans(flags & 1), Trans(flags >> 1 & 1), 2 + below(700), 2 + below(700),
                   1 + below(900), (flags >> 2 & 1) != 0});
  }
  return all;
}

// body(begin, end) for parts of `granule`; the last one takes what is left.
template <class Body>
void for_parts(int64_t n, int64_t granule, Body&& body) {
  const int64_t parts = std::max<int64_t>(1, n / granule);
  for (int64_t i = 0; i < parts; ++i) {
    body(i * granule, i + 1 == parts ? n : (i + 1) * granule);
  }
}

// Whether cutting at granule g along rows, columns or both changed a bit; `tried` is false where a
// part would be smaller than smallest_part.
struct Outcome {
  bool tried = false, changed = false;
};
using Outcomes = std::array<std::array<Outcome, 3>, std::size(granules)>;

Outcomes try_cuts(const Case& t, Generator& generator) {
  const auto numbers = [&](int64_t count) {
    // fill_uniform draws 24 bits: in float64, sums of products of those would be exact.
    std::vector<real> values(static_cast<size_t>(count));
    for (real& value : values) value = static_cast<real>(2 * generator.u53() - 1);
    return values;
  };
  const std::vector<real> a = numbers(t.m * t.k), b = numbers(t.k * t.n),
                          start = numbers(t.m * t.n);
  const auto view = [](const std::vector<real>& from, Trans trans, int64_t rows, int64_t columns) {
    return trans == Trans::yes ? ConstMatrix(from.data(), columns, rows).transposed()
                               : ConstMatrix(from.data(), rows, columns);
  };
  const auto product_into = [&](std::vector<real>& c) {
    return Product{view(a, t.ta, t.m, t.k), view(b, t.tb, t.k, t.n), Matrix(c.data(), t.m, t.n),
                   t.add};
  };
  std::vector<real> whole = start, parts;
  detail::openblas_products.multiply(product_into(whole));
  Outcomes outcomes;
  for (size_t g = 0; g < std::size(granules); ++g) {
    for (size_t way = 0; way < 3; ++way) {
      const int64_t rows = way == 1 ? t.m : granules[g], columns = way == 0 ? t.n : granules[g];
      if (std::min(rows, t.m) * std::min(columns, t.n) * t.k < detail::smallest_part) {
        continue;
      }
      parts = start;
      const Product p = product_into(parts);
      for_parts(t.m, rows, [&](int64_t r0, int64_t r1) {
        for_parts(t.n, columns, [&](int64_t c0, int64_t c1) {
          detail::openblas_products.multiply(p.rows(r0, r1).columns(c0, c1));
        });
      });
      outcomes[g][way] = {
          true, std::memcmp(parts.data(), whole.data(), whole.size() * sizeof(real)) != 0};
    }
  }
  return outcomes;
}

}  // namespace

int main() {
  detail::kernels_in_use();
  Generator generator(1);
  int tried[std::size(granules)][3] = {}, changed[std::size(granules)][3] = {};
  for (const Case& t : cases(generator)) {
    const Outcomes outcomes = try_cuts(t, generator);
    for (size_t g = 0; g < std::size(granules); ++g) {
      for (size_t way = 0; way < 3; ++way) {
        tried[g][way] += outcomes[g][way].tried;
        changed[g][way] += outcomes[g][way].changed;
      }
    }
  }
  std::printf("%s, float%zu: products whose bits changed, of those cut into parts of\n",
              blas_info().kernel.c_str(), 8 * sizeof(real));
  std::printf("%10s %12s %12s %12s\n", "", "rows", "columns", "both");
  for (size_t g = 0; g < std::size(granules); ++g) {
    std::printf("%10lld", static_cast<long long>(granules[g]));
    for (size_t way = 0; way < 3; ++way) {
      std::printf(" %5d of %3d", changed[g][way], tried[g][way]);
    }
    std::printf("\n");
  }
}
