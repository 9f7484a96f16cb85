#include "autograd/kernels/vector_math.h"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "tests/support/near.h"

namespace {

using heed::real;
using heed::testing::inf;
using heed::testing::not_a_number;
using Vector = void (*)(const real*, real*, int64_t);
using Exact = long double (*)(long double);

real apply(Vector function, real x) {
  real y = 0;
  function(&x, &y, 1);
  return y;
}

// Largest distance to the exact value in units of its last place.
double worst_ulp(Vector function, Exact exact, double low, double high) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<real> x(100003);
  for (real& value : x) {
    value = static_cast<real>(uniform(generator));
  }
  std::vector<real> y(x.size());
  function(x.data(), y.data(), static_cast<int64_t>(x.size()));
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const long double expected = exact(static_cast<long double>(x[i]));
    const real nearest = std::abs(static_cast<real>(expected));
    const long double unit = std::nextafter(nearest, inf) - nearest;
    const long double error = std::abs(static_cast<long double>(y[i]) - expected) / unit;
    worst = std::max(worst, std::isnan(y[i]) ? 1e30 : static_cast<double>(error));
  }
  return worst;
}

using VectorFunction = void (*)(const real* x, real* y, int64_t n);

constexpr VectorFunction all_exp = heed::vexp;
constexpr VectorFunction all_log = [](const real* x, real* y, int64_t n) {
  heed::vector_map(x, y, n, [](real v) { return heed::fast_log(v); });
};
constexpr VectorFunction all_tanh = [](const real* x, real* y, int64_t n) {
  heed::vector_map(x, y, n, [](real v) { return heed::fast_tanh(v); });
};
constexpr VectorFunction all_erf = [](const real* x, real* y, int64_t n) {
  heed::vector_map(x, y, n, [](real v) { return heed::fast_erf(v); });
};

}  // namespace

TEST_CASE("vector_math: accuracy") {
  const double low = heed::is_float64 ? -700 : -86;
  CHECK(worst_ulp(
            all_exp, [](long double v) { return std::exp(v); }, low, -low) <= 2);
  CHECK(worst_ulp(
            all_exp, [](long double v) { return std::exp(v); }, -1, 1) <= 2);
  CHECK(worst_ulp(
            all_log, [](long double v) { return std::log(v); }, 1e-6, 1e6) <= 2);
  CHECK(worst_ulp(
            all_tanh, [](long double v) { return std::tanh(v); }, -9, 9) <= 2);
  CHECK(worst_ulp(
            all_tanh, [](long double v) { return std::tanh(v); }, -0.01, 0.01) <=
        heed::testing::most_ulp());
  CHECK(worst_ulp(
            all_erf, [](long double v) { return std::erf(v); }, -4, 4) <= 2);
  CHECK(worst_ulp(
            all_erf, [](long double v) { return std::erf(v); }, -0.01, 0.01) <= 2);
}

TEST_CASE("vector_math: infinities, NaN, overflow and zero") {
  CHECK(apply(all_exp, -inf) == 0);
  CHECK(apply(all_exp, inf) == inf);
  CHECK(std::isnan(apply(all_exp, not_a_number)));
  CHECK(apply(all_exp, 0) == 1);
  CHECK(apply(all_exp, -1e30f) == 0);
  CHECK(apply(all_exp, 1e30f) == inf);
  CHECK(apply(all_log, 0) == -inf);
  CHECK(apply(all_log, 1) == 0);
  CHECK(apply(all_log, inf) == inf);
  CHECK(std::isnan(apply(all_log, -1)));
  CHECK(std::isnan(apply(all_log, not_a_number)));
  for (const auto function : {all_tanh, all_erf}) {
    CHECK(apply(function, 0) == 0);
    CHECK(apply(function, inf) == 1);
    CHECK(apply(function, -inf) == -1);
    CHECK(apply(function, 50) == 1);
    CHECK(apply(function, -50) == -1);
    CHECK(std::isnan(apply(function, not_a_number)));
  }
}

TEST_CASE("vector_math: bits follow from the value alone, at any length and position") {
  std::mt19937 generator(2);
  std::uniform_real_distribution<double> uniform(0.01, 5);
  std::vector<real> x(400);
  for (real& value : x) {
    value = static_cast<real>(uniform(generator));
  }
  int64_t compared = 0;
  for (const auto function : {all_exp, all_log, all_tanh, all_erf}) {
    std::vector<real> whole(x.size());
    function(x.data(), whole.data(), 400);
    for (const int64_t n : {0, 1, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129}) {
      for (const int64_t offset : {0, 1, 5, 16, 100}) {
        std::vector<real> part(static_cast<size_t>(n) + 1, real(-1));
        function(x.data() + offset, part.data(), n);
        const size_t bytes = static_cast<size_t>(n) * sizeof(real);
        CHECK(std::memcmp(part.data(), whole.data() + offset, bytes) == 0);
        CHECK(part.back() == -1);
        compared += n;
      }
    }
    auto in_place = x;
    function(in_place.data(), in_place.data(), 400);
    CHECK(in_place == whole);
  }
  CHECK(compared == 4 * 5 * 576);
}

TEST_CASE("vector_math: vector_map takes any function") {
  std::vector<real> x(37);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<real>(i) / 10;
  }
  std::vector<real> y(x.size());
  heed::vector_map(x.data(), y.data(), 37, [](real v) { return v * heed::fast_exp(-v) + 1; });
  int compared = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    CHECK(y[i] == doctest::Approx(x[i] * std::exp(-x[i]) + 1).epsilon(1e-6));
    ++compared;
  }
  CHECK(compared == 37);
}
