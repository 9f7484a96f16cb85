#include "autograd/kernels/attention/tile.h"

#include "tests/support/near.h"

using namespace heed;
using namespace heed::detail;
using namespace heed::testing;

TEST_CASE("attention_tile: exp_of") {
  int64_t compared = 0;
  double worst = 0;
  for (double x = is_float64 ? -707 : -86; x < 80; x += 0.00317) {
    const auto number = static_cast<real>(x);
    const double got = static_cast<double>(exp_of(Vector{} + number)[0]);
    const double want = std::exp(static_cast<double>(number));
    worst = std::max(worst, std::abs(got - want) / want);
    ++compared;
  }
  CHECK(compared > 50000);
  CHECK(worst <= 2 * static_cast<double>(std::numeric_limits<real>::epsilon()));

  const real infinity = std::numeric_limits<real>::infinity();
  const real top = std::numeric_limits<real>::max();
  CHECK(exp_of(Vector{})[0] == 1);
  for (const real x : {-infinity, -top, real{-1e5}, real{-1000}}) {
    CHECK(exp_of(Vector{} + x)[0] == 0);
  }
  for (const real nan : nans_with_payloads()) {
    CHECK(std::isnan(exp_of(Vector{} + nan)[0]));
    CHECK(std::isnan(exp_of(nan)));
  }
}

TEST_CASE("attention_tile: over all lanes") {
  for (int64_t best = 0; best < lanes; ++best) {
    Vector v = {};
    for (int64_t k = 0; k < lanes; ++k) v[k] = static_cast<real>(k == best ? 100 : -k);
    CHECK(largest_lane(v) == 100);
    CHECK(counting(3)[best] == 3 + best);
  }
}

TEST_CASE("attention_tile: products of every height, plain and transposed") {
  int64_t compared = 0;
  for (int64_t m = 1; m <= tile_rows; ++m) {
    for (const int64_t n : {lanes, 2 * lanes, 3 * lanes, 4 * lanes, 7 * lanes}) {
      for (const int64_t depth : {0, 1, 2, 37}) {
        for (const bool transposed : {false, true}) {
          const Array a = values({m, std::max<int64_t>(depth, 1)});
          const Array b = values({depth + 1, n + 3}), before = values({m, n + 1});
          Array laid = a;  // as the product reads it
          TileFactor factor{a.data(), a.dim(1), 1};
          if (transposed) {
            laid = Array::uninitialised({a.dim(1), m});
            for (int64_t i = 0; i < m; ++i) {
              for (int64_t k = 0; k < a.dim(1); ++k) {
                laid.mutable_data()[k * m + i] = a.data()[i * a.dim(1) + k];
              }
            }
            factor = {laid.data(), 1, m};
          }
          for (const bool add : {false, true}) {
            Array c = before.clone(), want = before.clone();
            tile_product(m, n, depth, factor, b.data(), n + 3, c.mutable_data(), n + 1, add);
            for (int64_t i = 0; i < m; ++i) {
              for (int64_t j = 0; j < n; ++j) {
                double sum = add ? static_cast<double>(before.data()[i * (n + 1) + j]) : 0;
                for (int64_t k = 0; k < depth; ++k) {
                  sum += static_cast<double>(a.data()[i * a.dim(1) + k]) *
                         static_cast<double>(b.data()[k * (n + 3) + j]);
                }
                want.mutable_data()[i * (n + 1) + j] = static_cast<real>(sum);
              }
            }
            compared += check_near(c, want, is_float64 ? 1e-12 : 1e-4);
          }
        }
      }
    }
  }
  CHECK(compared > 5000);
}

TEST_CASE("attention_tile: rows are shared out evenly") {
  for (int64_t m = 0; m <= 300; ++m) {
    int64_t next = 0, fewest = tile_rows, most = 0;
    for_row_tiles(tile_rows, m, [&](int64_t first, int64_t rows) {
      CHECK(first == next);
      next += rows;
      fewest = std::min(fewest, rows);
      most = std::max(most, rows);
    });
    CHECK(next == m);
    CHECK(most <= tile_rows);
    CHECK((m == 0 || most - fewest <= 1));
  }
}

TEST_CASE("attention_tile: packing") {
  int64_t compared = 0;
  for (const int64_t rows : odd_sizes) {
    for (const int64_t width : odd_sizes) {
      const Array x = values({rows, width + 2});
      const real factor = real{0.5};
      Array panels = Array::full({round_up(rows, panel) / panel, width, panel}, 9);
      Array padded = Array::full({rows, padded_width(width)}, 9);
      Array want_panels = Array::zeros(panels.shape()), want_padded = Array::zeros(padded.shape());
      pack_panels(rows, width, factor, x.data(), width + 2, panels.mutable_data());
      pack_rows(rows, width, factor, x.data(), width + 2, padded.mutable_data());
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t k = 0; k < width; ++k) {
          const real value = factor * x.data()[r * (width + 2) + k];
          want_panels.mutable_data()[(r / panel * width + k) * panel + r % panel] = value;
          want_padded.mutable_data()[r * padded.dim(1) + k] = value;
        }
      }
      compared += check_near(panels, want_panels, 0) + check_near(padded, want_padded, 0);
    }
  }
  CHECK(compared > 10000);
}
