// Functions of our own against those of the C library in long double: at most 2 units in the last
// place, over numbers of every size, in both formats whatever `real` is.
#include "autograd/base/elementary.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/support/near.h"

using namespace heed;

namespace {

using Exact = long double (*)(long double);

// The distance of `got` from the exact value in units of the last place of the nearest number; 0
// if both are the same infinity or NaN.
template <class Number>
double ulp(Number got, long double exact) {
  const auto nearest = static_cast<Number>(exact);
  if (!std::isfinite(nearest) || !std::isfinite(got)) {
    const bool same = std::isnan(nearest) ? std::isnan(got) : got == nearest;
    return same ? 0 : 1e30;
  }
  const Number size = std::abs(nearest);
  const Number unit = std::nextafter(size, std::numeric_limits<Number>::infinity()) - size;
  return static_cast<double>(std::abs(static_cast<long double>(got) - exact) / unit);
}

// Over about 400,000 numbers, evenly spaced by their bits: all sizes, both signs, subnormals,
// infinities and NaN.
template <class Number, class F>
double worst(F&& f, Exact exact) {
  using Bits = typename detail::Format<Number>::Bits;
  constexpr Bits step = std::numeric_limits<Bits>::max() / 400'009;
  double largest = 0;
  Bits bits = 0;
  for (int64_t i = 0; i <= 400'009; ++i, bits += step) {
    const auto x = std::bit_cast<Number>(bits);
    largest = std::max(largest, ulp(f(x), exact(static_cast<long double>(x))));
  }
  return largest;
}

template <class Number>
void check_functions() {
  CHECK(worst<Number>([](Number x) { return fast_exp(x); }, std::exp) <= 2);
  CHECK(worst<Number>([](Number x) { return fast_log(x); }, std::log) <= 2);
  CHECK(worst<Number>([](Number x) { return fast_tanh(x); }, std::tanh) <= testing::most_ulp());
  CHECK(worst<Number>([](Number x) { return fast_erf(x); }, std::erf) <= 2);
}

}  // namespace

TEST_CASE("elementary: at most 2 units in the last place") {
  check_functions<float>();
  check_functions<double>();
}

TEST_CASE("elementary: the check finds a function that is off") {
  CHECK(worst<float>([](float x) { return fast_exp(x) * (1 + 3e-7f); }, std::exp) > 2);
}

TEST_CASE("elementary: sine, cosine and powers") {
  double sines = 0, cosines = 0;
  for (int i = -20'000; i <= 20'000; ++i) {
    const double x = 0.00123456789 * i * (i % 7 == 0 ? 1000 : 1);
    const Circle at = circle_at(x);
    sines = std::max(sines, std::abs(at.sine - std::sin(x)));
    cosines = std::max(cosines, std::abs(at.cosine - std::cos(x)));
  }
  CHECK(sines < 3e-16);
  CHECK(cosines < 3e-16);
  CHECK(circle_at(0).cosine == 1);
  CHECK(power(0.999, 0) == 1);
  CHECK(power(0.5, 7) == 0x1p-7);
  CHECK(power(0.999, 100'000) == doctest::Approx(std::pow(0.999, 100'000)).epsilon(1e-10));
}
