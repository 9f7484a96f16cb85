#include "autograd/kernels/gemm/amx/product.h"

#include "autograd/kernels/gemm/packed.h"
#include "tests/support/products.h"

using namespace heed;
using detail::amx_gemm;
using detail::AmxFormat;
using detail::Product;
using heed::testing::Factors;
using heed::testing::ProductSize;

namespace {

// Tests of a unit that this build, CPU or system may not have.
const doctest::skip without_amx(!heed::detail::amx_runs(AmxFormat::bfloat16));

std::vector<AmxFormat> formats() {
  std::vector<AmxFormat> all{AmxFormat::bfloat16};
  if (heed::detail::amx_runs(AmxFormat::float16)) {
    all.push_back(AmxFormat::float16);
  } else {
    MESSAGE("skipped: float16, which this CPU's AMX does not multiply");
  }
  return all;
}

Product product(const Factors& f, ProductSize size, std::vector<real>& c) {
  c.assign(static_cast<size_t>(size.m * size.n), 0);
  return {f.a.view(), f.b.view(), {c.data(), size.m, size.n}};
}

// Root of the mean square of the differences to a loop in double.
double mean_error(const Factors& f, ProductSize size, const std::vector<real>& c) {
  double squares = 0;
  for (int64_t i = 0; i < size.m; ++i) {
    for (int64_t j = 0; j < size.n; ++j) {
      double want = 0;
      for (int64_t l = 0; l < size.k; ++l) {
        want += f.a.at(i, l) * f.b.at(l, j);
      }
      const double error = static_cast<double>(c[static_cast<size_t>(i * size.n + j)]) - want;
      squares += error * error;
    }
  }
  return std::sqrt(squares / static_cast<double>(size.m * size.n));
}

// Errors of 1e-6 of sum_l |a_il| |b_lj| at most, as those of float32 are, in each format.
void check_errors(const Factors& f, ProductSize size) {
  std::vector<real> c;
  for (const AmxFormat format : formats()) {
    amx_gemm(product(f, size, c), format);
    for (int64_t i = 0; i < size.m; ++i) {
      for (int64_t j = 0; j < size.n; ++j) {
        double want = 0, magnitude = 0;
        for (int64_t l = 0; l < size.k; ++l) {
          const double x = f.a.at(i, l) * f.b.at(l, j);
          want += x;
          magnitude += std::abs(x);
        }
        const double got = static_cast<double>(c[static_cast<size_t>(i * size.n + j)]);
        CHECK(std::abs(got - want) <= 1e-6 * magnitude);
      }
    }
  }
}

}  // namespace

TEST_CASE("amx gemm: blocks, panels and pieces, whole and their rests" * without_amx) {
  for (const AmxFormat format : formats()) {
    testing::check_products([format](const Product& p) { amx_gemm(p, format); }, {{1, 1, 1},
                                                                                  {32, 32, 32},
                                                                                  {31, 33, 17},
                                                                                  {64, 96, 64},
                                                                                  {33, 70, 385},
                                                                                  {200, 40, 800},
                                                                                  {40, 200, 450},
                                                                                  {390, 545, 400},
                                                                                  {600, 610, 70}});
  }
}

TEST_CASE("amx gemm: as exact as a product in float32" * without_amx) {
  const ProductSize size{64, 64, 1500};
  const Factors f(Trans::no, Trans::no, size);
  std::vector<real> c;
  heed::detail::packed_gemm(product(f, size, c));
  const double theirs = mean_error(f, size, c);
  for (const AmxFormat format : formats()) {
    amx_gemm(product(f, size, c), format);
    const double ours = mean_error(f, size, c);
    CHECK(ours > 0);
    CHECK(ours <= 2 * theirs);
  }
}

// As gradients are: of float16's range a number has nothing left, and of float32's not all.
TEST_CASE("amx gemm: rows and columns of any size" * without_amx) {
  const ProductSize size{70, 45, 150};
  Factors f(Trans::no, Trans::no, size);
  const auto row_size = [](int64_t i) {
    return std::ldexp(1.0, static_cast<int>(i * 7 % 100) - 50);
  };
  for (int64_t l = 0; l < size.k; ++l) {
    for (int64_t i = 0; i < size.m; ++i) {
      f.a.numbers[static_cast<size_t>(i * f.a.step + l)] *=
          static_cast<real>(i == 33 ? 0 : row_size(i));
    }
    for (int64_t j = 0; j < size.n; ++j) {
      f.b.numbers[static_cast<size_t>(l * f.b.step + j)] *= static_cast<real>(row_size(j + 3));
    }
  }
  check_errors(f, size);
}

// Where the rows of one factor are small the other one is large, so that small numbers count as
// much as large ones: of those a scale for the whole row leaves float16 nothing.
TEST_CASE("amx gemm: numbers of any size within a row" * without_amx) {
  for (const ProductSize size : {ProductSize{128, 128, 128}, {40, 200, 450}, {200, 40, 450}}) {
    for (const int range : {20, 24, 32, 40, 120}) {
      CAPTURE(range);
      Factors f(Trans::no, Trans::no, size);
      for (int64_t l = 0; l < size.k; ++l) {
        const auto by = static_cast<real>(
            std::ldexp(1.0, static_cast<int>(l * range / (size.k - 1)) - range / 2));
        for (int64_t i = 0; i < size.m; ++i)
          f.a.numbers[static_cast<size_t>(i * f.a.step + l)] *= by;
        for (int64_t j = 0; j < size.n; ++j)
          f.b.numbers[static_cast<size_t>(l * f.b.step + j)] /= by;
      }
      check_errors(f, size);
    }
  }
}

// The same for some panels of rows alone: their neighbours stay in float16.
TEST_CASE("amx gemm: some rows of a wide range between others" * without_amx) {
  const ProductSize size{330, 64, 200};
  Factors f(Trans::no, Trans::no, size);
  for (const int64_t row : {40, 70, 130, 329}) {
    for (int64_t l = 0; l < size.k; l += 2) {
      f.a.numbers[static_cast<size_t>(row * f.a.step + l)] *= static_cast<real>(0x1p-40);
    }
  }
  for (int64_t l = 1; l < size.k; l += 2) {
    for (int64_t j = 0; j < size.n; ++j) f.b.numbers[static_cast<size_t>(l * f.b.step + j)] = 0;
  }
  check_errors(f, size);
}

// Row 40 of A, and likewise column 50 of B, has so many small numbers, and the other factor is 0
// wherever the row has larger ones. Up to Remainder::most of them are added apart.
TEST_CASE("amx gemm: a few numbers far below the others of their row count" * without_amx) {
  for (const ProductSize size : {ProductSize{330, 64, 200}, {64, 330, 200}}) {
    for (const int64_t count : {1, 5, 31, 32, 33, 64}) {
      for (const bool in_a : {true, false}) {
        CAPTURE(count);
        CAPTURE(in_a);
        Factors f(Trans::no, Trans::no, size);
        const auto a = [&](int64_t i, int64_t l) -> real& {
          return f.a.numbers[static_cast<size_t>(i * f.a.step + l)];
        };
        const auto b = [&](int64_t l, int64_t j) -> real& {
          return f.b.numbers[static_cast<size_t>(l * f.b.step + j)];
        };
        for (int64_t l = 0; l < size.k; ++l) {
          const bool small = l % 3 == 1 && l / 3 < count;
          const real by = static_cast<real>(small ? 0x1.8p-33 : 1);
          if (in_a) {
            a(40, l) *= by;
            for (int64_t j = 0; j < size.n; ++j) b(l, j) *= small ? 1 : 0;
          } else {
            b(l, 50) *= by;
            for (int64_t i = 0; i < size.m; ++i) a(i, l) *= small ? 1 : 0;
          }
        }
        check_errors(f, size);
      }
    }
  }
}

TEST_CASE("amx gemm: what is infinite or not a number stays where it belongs" * without_amx) {
  const ProductSize size{70, 50, 420};
  const real infinity = std::numeric_limits<real>::infinity();
  Factors f(Trans::no, Trans::no, size);
  std::vector<real> c;
  const auto put = [](testing::Numbers& m, int64_t i, int64_t j, real x) {
    m.numbers[static_cast<size_t>(i * m.step + j)] = x;
  };
  put(f.a, 40, 410, -infinity);                        // row 40, with both signs
  put(f.b, 3, 45, testing::not_a_number);              // column 45
  put(f.a, 66, 5, testing::not_a_number);              // row 66, in a panel without infinities
  put(f.a, 7, 100, std::numeric_limits<real>::max());  // row 7: finite, beyond bfloat16
  for (int64_t j = 0; j < size.n; ++j) {
    put(f.b, 100, j, real{0.5});
  }
  const auto at = [&](int64_t i, int64_t j) { return c[static_cast<size_t>(i * size.n + j)]; };
  for (const AmxFormat format : formats()) {
    amx_gemm(product(f, size, c), format);
    for (int64_t j = 0; j < size.n; ++j) {
      if (j != 45) {
        CHECK(at(40, j) == (f.b.at(410, j) < 0 ? infinity : -infinity));
        CHECK(at(7, j) == std::numeric_limits<real>::max() / 2);
        CHECK(std::isnan(at(66, j)));
        CHECK(std::isfinite(at(0, j)));
        CHECK(std::isfinite(at(69, j)));
      }
    }
    for (int64_t i = 0; i < size.m; ++i) {
      CHECK(std::isnan(at(i, 45)));
    }
  }
}
