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

using heed::Generator;
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
  real alpha = 1;
  real beta = 0;
  int64_t gap = 0;  // leading dimensions beyond the smallest

  int64_t lda() const { return std::max<int64_t>(ta == Trans::no ? k : m, 1) + gap; }
  int64_t ldb() const { return std::max<int64_t>(tb == Trans::no ? n : k, 1) + 2 * gap; }
  int64_t ldc() const { return std::max<int64_t>(n, 1) + 3 * gap; }
  int64_t size_a() const { return (ta == Trans::no ? m : k) * lda(); }
  int64_t size_b() const { return (tb == Trans::no ? k : n) * ldb(); }
  int64_t size_c() const { return m * ldc(); }
};

double element(const GemmCase& t, const real* a, const real* b, int64_t i, int64_t j) {
  if (t.k == 0) {
    return 0;
  }
  const int64_t step_a = t.ta == Trans::no ? 1 : t.lda();
  const int64_t step_b = t.tb == Trans::no ? t.ldb() : 1;
  const real* left = a + i * (t.ta == Trans::no ? t.lda() : 1);
  const real* right = b + j * (t.tb == Trans::no ? 1 : t.ldb());
  double sum = 0;
  for (int64_t l = 0; l < t.k; ++l) {
    sum += static_cast<double>(left[l * step_a]) * static_cast<double>(right[l * step_b]);
  }
  return sum;
}

void product(const GemmCase& t, const real* a, const real* b, real* c) {
  heed::gemm(t.ta, t.tb, t.m, t.n, t.k, t.alpha, a, t.lda(), b, t.ldb(), t.beta, c, t.ldc());
}

// Number of elements that agree with a loop in double; the gaps between rows must be untouched.
// Returns -1 at the first that does not.
int64_t count_right(const GemmCase& t, const real* a, const real* b,
                    const std::vector<real>& before, const real* c) {
  const double unit = static_cast<double>(std::numeric_limits<real>::epsilon());
  const double tolerance = unit * static_cast<double>(4 * t.k + 20);
  for (int64_t i = 0; i < t.m; ++i) {
    for (int64_t j = 0; j < t.ldc(); ++j) {
      const auto at = static_cast<size_t>(i * t.ldc() + j);
      if (j >= t.n) {
        if (std::memcmp(&c[at], &before[at], sizeof(real)) != 0) {
          return -1;
        }
        continue;
      }
      const double old = t.beta == 0 ? 0 : static_cast<double>(before[at]);
      const double expected = t.alpha * element(t, a, b, i, j) + t.beta * old;
      if (!(std::abs(static_cast<double>(c[at]) - expected) <= tolerance)) {
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
  if (t.beta == 0) {
    std::fill(c.begin(), c.end(), not_a_number);
  }
  const auto before = c;
  product(t, a.data(), b.data(), c.data());
  INFO("m ", t.m, " n ", t.n, " k ", t.k, " transposed ", t.ta == Trans::yes, t.tb == Trans::yes,
       " beta ", t.beta, " gap ", t.gap);
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
        t.alpha = repeat % 2 == 0 ? real(1) : real(-0.75);
        t.beta = repeat % 3 == 0 ? real(0) : repeat % 3 == 1 ? real(1) : real(0.5);
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
      for (const real beta : {real(0), real(1), real(0.5)}) {
        for (const int64_t gap : {0, 3}) {
          check_case({ta, tb, 1, 33, 129, 2, beta, gap}, generator);
          check_case({ta, tb, 33, 1, 129, 2, beta, gap}, generator);
          check_case({ta, tb, 1, 1, 17, 2, beta, gap}, generator);
          check_case({ta, tb, 17, 9, 0, 2, beta, gap}, generator);
          check_case({ta, tb, 1, 9, 0, 2, beta, gap}, generator);
          check_case({ta, tb, 1, 3000, 700, 2, beta, gap}, generator);  // several tiles
          check_case({ta, tb, 3000, 1, 700, 2, beta, gap}, generator);
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
           {GemmCase{ta, tb, 515, 130, 97}, GemmCase{ta, tb, 65, 1029, 63, 1, 1, 1},
            GemmCase{ta, tb, 200, 300, 1001}, GemmCase{ta, tb, 1, 2000, 1500},
            GemmCase{ta, tb, 60, 70, 1029, real(0.5), 1, 2}, GemmCase{ta, tb, 131, 96, 701},
            GemmCase{ta, tb, 300, 256, 480, 1, 1}}) {
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

TEST_CASE("batched_gemm: equals one gemm after the other") {
  Generator generator(5);
  for (const int64_t batch : {0, 1, 3, 4, 33}) {
    for (const int64_t size : {1, 7, 16, 33, 129}) {
      for (const bool shared : {false, true}) {
        const GemmCase t{Trans::no, Trans::yes, size, 17, 31, real(0.5), 1, 2};
        const int64_t stride_b = shared ? 0 : t.size_b() + 5;
        const auto a = random_numbers(batch * t.size_a() + 1, generator);
        const auto b = random_numbers((batch + 1) * (t.size_b() + 5), generator);
        const auto start = random_numbers(batch * t.size_c() + 1, generator);
        auto c = start;
        heed::batched_gemm(batch, t.ta, t.tb, t.m, t.n, t.k, t.alpha, a.data(), t.lda(), t.size_a(),
                           b.data(), t.ldb(), stride_b, t.beta, c.data(), t.ldc(), t.size_c());
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

TEST_CASE("gemm: counts floating-point operations, in dry runs too") {
  std::vector<real> x(64, 1);
  std::vector<real> c(64, 7);
  const int64_t start = heed::flop_count();
  heed::gemm(Trans::no, Trans::no, 4, 5, 6, 1, x.data(), 6, x.data(), 5, 0, c.data(), 5);
  CHECK(heed::flop_count() - start == 2 * 4 * 5 * 6);
  CHECK(c[0] == 6);
  const heed::DryRun dry;
  heed::gemm(Trans::no, Trans::no, 4, 5, 6, 1, x.data(), 6, x.data(), 5, 1, c.data(), 5);
  heed::batched_gemm(3, Trans::no, Trans::no, 2, 2, 2, 1, x.data(), 2, 4, x.data(), 2, 4, 0,
                     c.data(), 2, 4);
  CHECK(heed::flop_count() - start == 4 * 4 * 5 * 6 + 2 * 3 * 8);
  CHECK(c[0] == 6);
}

TEST_CASE("gemm: refusals") {
  std::vector<real> x(64, 1);
  const auto call = [&](int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb, int64_t ldc) {
    heed::gemm(Trans::no, Trans::yes, m, n, k, 1, x.data(), lda, x.data(), ldb, 0, x.data(), ldc);
  };
  const int64_t huge = int64_t{1} << 31;
  CHECK_THROWS_WITH_AS(
      call(huge, 2, 2, 2, 2, 2),
      "gemm: expected dimensions from 0 to 2147483647, got (2147483648, 2) @ (2, 2)",
      heed::ShapeError);
  CHECK_THROWS_AS(call(2, -1, 2, 2, 2, 2), heed::ShapeError);
  CHECK_THROWS_WITH_AS(call(2, 2, 3, 2, 3, 2),
                       "gemm: expected a leading dimension of A from 3 to 2147483647, got 2",
                       heed::ShapeError);
  CHECK_THROWS_AS(call(2, 2, 2, 2, huge, 2), heed::ShapeError);
  CHECK_THROWS_AS(call(2, 2, 2, 2, 2, 1), heed::ShapeError);
  CHECK_THROWS_AS(call(2, 0, 2, 2, 2, 0), heed::ShapeError);
  CHECK_NOTHROW(call(2, 2, 2, 2, 2, 2));
}
