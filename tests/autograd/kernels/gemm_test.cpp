#include "autograd/kernels/gemm.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "autograd/array/storage.h"
#include "autograd/base/error.h"
#include "autograd/random/fills.h"
#include "autograd/random/generator.h"
#include "autograd/threads/parallel.h"
#include "tests/support/near.h"

namespace {

using heed::ConstMatrices;
using heed::ConstMatrix;
using heed::Generator;
using heed::into;
using heed::Matrices;
using heed::Matrix;
using heed::real;
using heed::Trans;
using heed::testing::not_a_number;

std::vector<real> random_numbers(int64_t count, Generator& generator) {
  std::vector<real> numbers(static_cast<size_t>(count));
  heed::fill_uniform(generator, numbers, -1, 1);
  return numbers;
}

struct GemmCase {
  Trans ta;
  Trans tb;
  int64_t m;
  int64_t n;
  int64_t k;
  bool add = false;
  int64_t gap = 0;  // numbers between the rows in memory

  ConstMatrix a(const real* data) const { return view(data, ta, m, k, gap); }
  ConstMatrix b(const real* data) const { return view(data, tb, k, n, 2 * gap); }
  Matrix c(real* data) const { return {data, m, n, std::max<int64_t>(n, 1) + 3 * gap}; }
  int64_t size_a() const { return size(a(nullptr)); }
  int64_t size_b() const { return size(b(nullptr)); }
  int64_t size_c() const { return size(c(nullptr)); }

 private:
  static ConstMatrix view(const real* data, Trans t, int64_t rows, int64_t columns, int64_t gap) {
    if (t == Trans::yes) std::swap(rows, columns);
    return ConstMatrix(data, rows, columns, std::max<int64_t>(columns, 1) + gap).transposed(t);
  }
  static int64_t size(ConstMatrix x) {
    return (x.is_transposed() ? x.columns() : x.rows()) * x.step();
  }
};

double at(ConstMatrix x, int64_t i, int64_t j) {
  return static_cast<double>(x.data()[x.is_transposed() ? j * x.step() + i : i * x.step() + j]);
}

double element(const GemmCase& t, const real* a, const real* b, int64_t i, int64_t j) {
  const ConstMatrix left = t.a(a), right = t.b(b);
  double sum = 0;
  for (int64_t l = 0; l < t.k; ++l) {
    sum += at(left, i, l) * at(right, l, j);
  }
  return sum;
}

void product(const GemmCase& t, const real* a, const real* b, real* c) {
  heed::multiply(t.a(a), t.b(b), into(t.c(c), t.add));
}

// Number of elements that agree with a loop in double; the gaps between rows must be untouched.
// Returns -1 at the first that does not.
int64_t count_right(const GemmCase& t, const real* a, const real* b,
                    const std::vector<real>& before, const real* c) {
  const double unit = static_cast<double>(std::numeric_limits<real>::epsilon());
  const double tolerance = unit * static_cast<double>(4 * t.k + 20);
  for (int64_t i = 0; i < t.m; ++i) {
    const int64_t step = t.c(nullptr).step();
    for (int64_t j = 0; j < step; ++j) {
      const auto place = static_cast<size_t>(i * step + j);
      if (j >= t.n) {
        if (std::memcmp(&c[place], &before[place], sizeof(real)) != 0) {
          return -1;
        }
        continue;
      }
      const double old = t.add ? static_cast<double>(before[place]) : 0;
      const double expected = element(t, a, b, i, j) + old;
      if (!(std::abs(static_cast<double>(c[place]) - expected) <= tolerance)) {
        return -1;
      }
    }
  }
  return t.m * t.n;
}

void check_case(const GemmCase& t, Generator& generator) {
  const auto a = random_numbers(t.size_a(), generator);
  const auto b = random_numbers(t.size_b(), generator);
  auto c = random_numbers(t.size_c(), generator);
  if (!t.add) {
    std::fill(c.begin(), c.end(), not_a_number);
  }
  const auto before = c;
  product(t, a.data(), b.data(), c.data());
  INFO("m ", t.m, " n ", t.n, " k ", t.k, " transposed ", t.ta == Trans::yes, t.tb == Trans::yes,
       " add ", t.add, " gap ", t.gap);
  CHECK(count_right(t, a.data(), b.data(), before, c.data()) == t.m * t.n);
}

}  // namespace

TEST_CASE("gemm: against a loop in double") {
  Generator generator(1);
  const int64_t sizes[] = {0, 1, 7, 8, 15, 16, 17, 31, 33, 127, 129};
  const auto any = [&] { return sizes[generator.random32() % std::size(sizes)]; };
  for (int repeat = 0; repeat < 150; ++repeat) {
    for (const Trans ta : {Trans::no, Trans::yes}) {
      for (const Trans tb : {Trans::no, Trans::yes}) {
        GemmCase t{ta, tb, any(), any(), any()};
        t.add = repeat % 2 == 0;
        t.gap = repeat % 5;
        check_case(t, generator);
      }
    }
  }
}

TEST_CASE("gemm: vectors and empty sums in every transposition") {
  Generator generator(2);
  for (const Trans ta : {Trans::no, Trans::yes}) {
    for (const Trans tb : {Trans::no, Trans::yes}) {
      for (const bool add : {false, true}) {
        for (const int64_t gap : {0, 3}) {
          check_case({ta, tb, 1, 33, 129, add, gap}, generator);
          check_case({ta, tb, 33, 1, 129, add, gap}, generator);
          check_case({ta, tb, 1, 1, 17, add, gap}, generator);
          check_case({ta, tb, 17, 9, 0, add, gap}, generator);
          check_case({ta, tb, 1, 9, 0, add, gap}, generator);
          check_case({ta, tb, 1, 3000, 700, add, gap}, generator);  // several tiles
          check_case({ta, tb, 3000, 1, 700, add, gap}, generator);
        }
      }
    }
  }
}

TEST_CASE("gemm: shapes of several tiles, and the same bits for any number of threads") {
  Generator generator(3);
  const int before = heed::num_threads();
  for (const Trans ta : {Trans::no, Trans::yes}) {
    for (const Trans tb : {Trans::no, Trans::yes}) {
      for (const GemmCase& t :
           {GemmCase{ta, tb, 515, 130, 97}, GemmCase{ta, tb, 65, 1029, 63, true, 1},
            GemmCase{ta, tb, 200, 300, 1001}, GemmCase{ta, tb, 1, 2000, 1500},
            GemmCase{ta, tb, 60, 70, 1029, true, 2}, GemmCase{ta, tb, 131, 96, 701},
            GemmCase{ta, tb, 300, 256, 480, true}, GemmCase{ta, tb, 130, 129, 516, true}}) {
        const auto a = random_numbers(t.size_a(), generator);
        const auto b = random_numbers(t.size_b(), generator);
        const auto start = random_numbers(t.size_c(), generator);
        std::vector<real> first;
        for (const int threads : {1, 2, 3, 5}) {
          heed::set_num_threads(threads);
          auto c = start;
          product(t, a.data(), b.data(), c.data());
          if (first.empty()) {
            first = c;
            CHECK(count_right(t, a.data(), b.data(), start, c.data()) == t.m * t.n);
          }
          CHECK(std::memcmp(c.data(), first.data(), c.size() * sizeof(real)) == 0);
        }
      }
    }
  }
  heed::set_num_threads(before);
}

TEST_CASE("gemm: inside a parallel loop the bits are the same") {
  Generator generator(4);
  for (const GemmCase& t : {GemmCase{Trans::no, Trans::yes, 300, 200, 150},
                            GemmCase{Trans::yes, Trans::no, 90, 100, 800}}) {
    const auto a = random_numbers(t.size_a(), generator);
    const auto b = random_numbers(t.size_b(), generator);
    std::vector<real> alone(static_cast<size_t>(t.size_c()));
    product(t, a.data(), b.data(), alone.data());
    std::vector<std::vector<real>> inside(4, alone);
    heed::parallel_for(4, 1, [&](int64_t i, int64_t) {
      product(t, a.data(), b.data(), inside[static_cast<size_t>(i)].data());
    });
    for (const auto& c : inside) {
      CHECK(std::memcmp(c.data(), alone.data(), c.size() * sizeof(real)) == 0);
    }
  }
}

TEST_CASE("multiply_each: equals one product after the other") {
  Generator generator(5);
  for (const int64_t batch : {0, 1, 3, 4, 33}) {
    for (const int64_t size : {1, 7, 16, 33, 129}) {
      for (const bool shared : {false, true}) {
        const GemmCase t{Trans::no, Trans::yes, size, 17, 31, true, 2};
        const int64_t stride_b = shared ? 0 : t.size_b() + 5;
        const auto a = random_numbers(batch * t.size_a() + 1, generator);
        const auto b = random_numbers((batch + 1) * (t.size_b() + 5), generator);
        const auto start = random_numbers(batch * t.size_c() + 1, generator);
        auto c = start;
        heed::multiply_each(batch, {t.a(a.data()), t.size_a()}, {t.b(b.data()), stride_b},
                            into(Matrices{t.c(c.data()), t.size_c()}, t.add));
        int64_t compared = 0;
        for (int64_t i = 0; i < batch; ++i) {
          const auto begin = start.begin() + i * t.size_c();
          const std::vector<real> before(begin, begin + t.size_c());
          compared += count_right(t, a.data() + i * t.size_a(), b.data() + i * stride_b, before,
                                  c.data() + i * t.size_c());
        }
        CHECK(compared == batch * t.m * t.n);
        CHECK(c.back() == start.back());
      }
    }
  }
}

TEST_CASE("gemm: what is infinite or not a number reaches its row and its column alone") {
  Generator generator(8);
  for (const GemmCase& t :
       {GemmCase{Trans::no, Trans::no, 7, 5, 3}, GemmCase{Trans::yes, Trans::no, 45, 83, 131},
        GemmCase{Trans::no, Trans::yes, 130, 259, 300}}) {
    auto a = random_numbers(t.size_a(), generator), b = random_numbers(t.size_b(), generator);
    std::vector<real> finite(static_cast<size_t>(t.size_c())), got = finite;
    heed::multiply(t.a(a.data()), t.b(b.data()), into(t.c(finite.data())));
    const int64_t row = t.m - 2, column = t.n - 1;
    // The last number of a row of A, and the first of a column of B.
    a[static_cast<size_t>(t.ta == Trans::yes ? (t.k - 1) * t.m + row : row * t.k + t.k - 1)] =
        not_a_number;
    b[static_cast<size_t>(t.tb == Trans::yes ? column * t.k : column)] =
        std::numeric_limits<real>::infinity();
    heed::multiply(t.a(a.data()), t.b(b.data()), into(t.c(got.data())));
    for (int64_t i = 0; i < t.m * t.n; ++i) {
      const real now = got[static_cast<size_t>(i)], before = finite[static_cast<size_t>(i)];
      const bool right = i / t.n == row      ? std::isnan(now)
                         : i % t.n == column ? std::isinf(now)
                                             : now == before;
      CHECK_MESSAGE(right, "row ", i / t.n, ", column ", i % t.n, ": ", now, ", was ", before);
    }
  }
}

TEST_CASE("gemm: into a transposed view") {
  Generator generator(6);
  for (const int64_t batch : {1, 5}) {
    const GemmCase t{Trans::no, Trans::no, 20, 30, 40};
    const auto a = random_numbers(batch * t.size_a(), generator);
    const auto b = random_numbers(batch * t.size_b(), generator);
    std::vector<real> c(static_cast<size_t>(batch * t.size_c())), transposed = c;
    const ConstMatrices as{t.a(a.data()), t.size_a()}, bs{t.b(b.data()), t.size_b()};
    heed::multiply_each(batch, as, bs, into(Matrices{t.c(c.data()), t.size_c()}));
    const Matrices cs{Matrix(transposed.data(), t.n, t.m), t.size_c()};
    heed::multiply_each(batch, as, bs, into(cs.transposed()));
    double largest = 0;
    for (int64_t i = 0; i < batch; ++i) {
      for (int64_t j = 0; j < t.m * t.n; ++j) {
        const double x = at(cs.transposed()[i], j / t.n, j % t.n);
        largest = std::max(largest, std::abs(x - c[static_cast<size_t>(i * t.m * t.n + j)]));
      }
    }
    CHECK(largest < 1e-4);
    CHECK(std::abs(c[7]) > 0);
  }
}

TEST_CASE("gemm: an epilogue sees every number of C once, complete") {
  for (const GemmCase& t : {GemmCase{Trans::no, Trans::yes, 900, 50, 1100},
                            GemmCase{Trans::no, Trans::no, 60, 1500, 300}}) {
    const std::vector<real> ones_a(static_cast<size_t>(t.size_a()), 1);
    const std::vector<real> ones_b(static_cast<size_t>(t.size_b()), 1);
    std::vector<real> c(static_cast<size_t>(t.size_c()));
    heed::multiply(t.a(ones_a.data()), t.b(ones_b.data()), into(t.c(c.data())),
                   [&](const heed::Block& block) {
                     for (int64_t i = 0; i < block.rows * block.columns; ++i) {
                       const int64_t row = block.row + i / block.columns;
                       c[static_cast<size_t>(row * t.n + block.column + i % block.columns)] += 1;
                     }
                   });
    CHECK(std::all_of(c.begin(), c.end(), [&](real x) { return x == static_cast<real>(t.k + 1); }));
  }
}

TEST_CASE("gemm: counts floating-point operations, in dry runs too") {
  std::vector<real> x(64, 1);
  std::vector<real> c(64, 7);
  const ConstMatrix a(x.data(), 4, 6), b(x.data(), 6, 5);
  const int64_t start = heed::flop_count();
  heed::multiply(a, b, into(Matrix(c.data(), 4, 5)));
  CHECK(heed::flop_count() - start == 2 * 4 * 5 * 6);
  CHECK(c[0] == 6);
  const heed::DryRun dry;
  heed::multiply(a, b, into(Matrix(c.data(), 4, 5), true));
  heed::multiply_each(9, {{x.data(), 2, 2}, 4}, {{x.data(), 2, 2}, 4},
                      into(Matrices{{c.data(), 2, 2}, 4}));
  CHECK(heed::flop_count() - start == 4 * 4 * 5 * 6 + 2 * 9 * 8);
  CHECK(c[0] == 6);
}

TEST_CASE("gemm: refusals") {
  std::vector<real> x(64, 1);
  const auto call = [&](int64_t m, int64_t n, int64_t k, int64_t step_a, int64_t step_b,
                        int64_t step_c) {
    const ConstMatrix a(x.data(), m, k, step_a), b(x.data(), n, k, step_b);
    heed::multiply(a, b.transposed(), into(Matrix(x.data(), m, n, step_c)));
  };
  const int64_t huge = int64_t{1} << 31;
  CHECK_THROWS_WITH_AS(
      call(huge, 2, 2, 2, 2, 2),
      "matrix product: expected dimensions from 0 to 2147483647, got (2147483648, 2) @ (2, 2)",
      heed::ShapeError);
  CHECK_THROWS_AS(call(2, -1, 2, 2, 2, 2), heed::ShapeError);
  CHECK_THROWS_WITH_AS(
      call(2, 2, 3, 2, 3, 2),
      "matrix product: expected rows of A in memory at a step from 3 to 2147483647, got 2",
      heed::ShapeError);
  CHECK_THROWS_AS(call(2, 2, 2, 2, huge, 2), heed::ShapeError);
  CHECK_THROWS_AS(call(2, 2, 2, 2, 2, 1), heed::ShapeError);
  CHECK_THROWS_AS(call(2, 0, 2, 2, 2, 0), heed::ShapeError);
  CHECK_NOTHROW(call(2, 2, 2, 2, 2, 2));
  const Matrix square(x.data(), 4, 4);
  CHECK_THROWS_WITH_AS(
      heed::multiply(square, square.rows(0, 3), into(square)),
      "matrix product: expected (m, k) @ (k, n) into (m, n), got (4, 4) @ (3, 4) into (4, 4)",
      heed::ShapeError);
  CHECK_THROWS_AS(
      heed::multiply(square, square, into(square.transposed()), [](const heed::Block&) {}),
      heed::ShapeError);
}
