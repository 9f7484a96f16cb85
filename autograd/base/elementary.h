// exp, log, tanh, erf, sine and cosine of our own. Every number is a stated order of sums, products
// and multiply_add, which all compilers and vector units round alike: the same bits on every
// machine with fused multiply-adds, in a loop and alone. There is no table and no branch, so a loop
// over them becomes one over vectors when nothing in it is a call, also where little is inlined
// (-O1): hence always_inline and the folds. At most 2 units in the last place, in float32 and
// float64 (erf: 2.02 at one number); autograd/kernels/README.md has the measured errors and times.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>
#include <utility>

namespace heed {

// a b + c: rounded once where the instruction set fuses the two (AVX2, AVX-512, Arm), as PyTorch's
// vector kernels do, else twice, since std::fma would be a call. The compiler fuses nothing itself
// (-ffp-contract=off), so that two ways to one number, a loop and its tail, round alike.
template <class Number>
[[gnu::always_inline]] inline Number multiply_add(Number a, std::type_identity_t<Number> b,
                                                  std::type_identity_t<Number> c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

namespace detail {

// Of float or double: its bits, and what depends on its digits.
template <class N>
struct Format {
  using Number = N;
  using Integer = std::conditional_t<sizeof(N) == 8, int64_t, int32_t>;
  using Bits = std::make_unsigned_t<Integer>;
  static constexpr bool wide = sizeof(N) == 8;
  static constexpr int fraction_bits = std::numeric_limits<N>::digits - 1;
  static constexpr int64_t bias = std::numeric_limits<N>::max_exponent;  // of 2^(n+1)
  // Adding it to x rounds x to a whole number n. The lowest bits of the sum are n + bias.
  static constexpr N rounder = static_cast<N>((int64_t{3} << (fraction_bits - 1)) + bias);
  // ln 2 in two parts, the first with zeros at its end, so that n times it is exact.
  static constexpr N ln2_high = static_cast<N>(wide ? 0x1.62e42fefa38p-1 : 0x1.62e4p-1);
  static constexpr N ln2_low = static_cast<N>(wide ? 0x1.ef35793c7673p-45 : 0x1.7f7d1cf79abcap-20);

  // 2^n where that is a normal number.
  [[gnu::always_inline]] static N power_of_two(Integer n) {
    return std::bit_cast<N>(static_cast<Bits>(n + static_cast<Integer>(bias - 1)) << fraction_bits);
  }
};

// What exp_of needs of a number. simd.h has the same for a vector.
template <class V>
struct Arithmetic : Format<V> {
  [[gnu::always_inline]] static V multiply_add(V a, V b, V c) {
    return heed::multiply_add(a, b, c);
  }
};

// c_0 + c_1 x + ... + c_(n-1) x^(n-1), from the last to the first.
template <class V, class Number, size_t n>
[[gnu::always_inline]] inline V polynomial(V x, const std::array<Number, n>& c) {
  V sum = V{} + c[n - 1];  // V{} + c is c in every lane
  const auto add_terms = [&]<size_t... k>(std::index_sequence<k...>)
      __attribute__((always_inline)) {
    ((sum = Arithmetic<V>::multiply_add(sum, x, V{} + c[n - 2 - k])), ...);
  };
  add_terms(std::make_index_sequence<n - 1>());
  return sum;
}

// The coefficients c(k) of a series, k < n.
template <class Number, size_t n, class Coefficient>
constexpr std::array<Number, n> series(Coefficient c) {
  std::array<Number, n> values{};
  for (size_t k = 0; k < n; ++k) values[k] = static_cast<Number>(c(static_cast<int>(k)));
  return values;
}

constexpr double factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

//   exp(x) = 2^n exp(r),  n = x / ln 2 rounded,  |r| <= ln 2 / 2
// The bias in the rounder is even, so that ties round as without it.
template <class V>
struct Halvings {
  V shifted, n, r;  // n + rounder, n, r
};
template <class V>
[[gnu::always_inline]] inline Halvings<V> halvings_of(V x) {
  using With = Arithmetic<V>;
  using Number = typename With::Number;
  constexpr V none = {};
  const V shifted = With::multiply_add(x, none + static_cast<Number>(1.44269504088896340736),
                                       none + With::rounder);
  const V n = shifted - With::rounder;
  const V above = With::multiply_add(n, none - With::ln2_high, x);
  return {shifted, n, With::multiply_add(n, none - With::ln2_low, above)};
}

// 1 / (2 k!) up to the last term that half of exp(r) needs.
template <class Number>
inline constexpr auto half_of_inverse_factorials =
    series<Number, sizeof(Number) == 8 ? 14 : 8>([](int k) { return 0.5 / factorial(k); });

// exp(x) for x up to about 80, within two units in the last place; 0 where the result would be
// subnormal. Half of exp(r) by its Taylor series is multiplied by 2^(n+1), which is n with the bias
// of exponents, shifted. The series of a NaN stays NaN, whatever the bits of 2^(n+1) then are.
// V is a number, or a Vector of simd.h.
template <class V>
[[gnu::always_inline]] inline V exp_of(V x) {
  using With = Arithmetic<V>;
  constexpr auto smallest = static_cast<typename With::Number>(With::wide ? -708 : -87);
  constexpr V none = {};
  const Halvings<V> to = halvings_of(x);
  const V half = polynomial(to.r, half_of_inverse_factorials<typename With::Number>);
  const auto exponent = std::bit_cast<typename With::Bits>(to.shifted) << With::fraction_bits;
  return x < smallest ? none : half * std::bit_cast<V>(exponent);
}

}  // namespace detail

using detail::exp_of;

// exp(x) for any x. Powers of two are multiplied in two steps, each a normal number: the second
// rounds a subnormal result, or overflows.
template <class Number>
[[gnu::always_inline]] inline Number fast_exp(Number x) {
  using F = detail::Format<Number>;
  using Integer = typename F::Integer;
  constexpr Number most = F::wide ? 710 : 89, least = F::wide ? -746 : -104;
  const auto to = detail::halvings_of(x > most ? most : x < least ? least : x);
  const Number half = detail::polynomial(to.r, detail::half_of_inverse_factorials<Number>);
  const Integer n = std::bit_cast<Integer>(to.shifted) - std::bit_cast<Integer>(F::rounder);
  const Integer first = n >> 1;
  return half * F::power_of_two(first + 1) * F::power_of_two(n - first);
}

// log(x): x = m 2^e with m from sqrt(1/2) to sqrt(2), f = m - 1, s = f / (2 + f)
//   log(m) = 2 (s + s^3/3 + s^5/5 + ...) = f - (h - s (h + R))
//   h = f^2/2,  R = 2 (s^2/3 + s^4/5 + ...)
template <class Number>
[[gnu::always_inline]] inline Number fast_log(Number x) {
  using F = detail::Format<Number>;
  using Integer = typename F::Integer;
  constexpr auto terms = detail::series < Number,
                 F::wide ? 11 : 5 > ([](int k) { return 2.0 / (2 * k + 3); });
  constexpr auto root_of_half = std::bit_cast<Integer>(std::numbers::sqrt2_v<Number> / 2);
  constexpr auto infinity = std::numeric_limits<Number>::infinity();
  constexpr Integer digits = F::fraction_bits + 2;
  const bool subnormal = x < std::numeric_limits<Number>::min();
  const auto bits = std::bit_cast<Integer>(subnormal ? x * F::power_of_two(digits) : x);
  // Without overflow for negative x, whose logarithm is none.
  const Integer e = static_cast<Integer>(static_cast<typename F::Bits>(bits) -
                                         static_cast<typename F::Bits>(root_of_half)) >>
                    F::fraction_bits;
  const auto m = std::bit_cast<Number>(
      static_cast<Integer>(static_cast<typename F::Bits>(bits) -
                           (static_cast<typename F::Bits>(e) << F::fraction_bits)));
  const auto n = static_cast<Number>(e - (subnormal ? digits : 0));
  const Number f = m - 1, s = f / (2 + f), z = s * s, h = Number(0.5) * f * f;
  const Number rest = multiply_add(z, detail::polynomial(z, terms), h);
  const Number small = multiply_add(s, rest, n * F::ln2_low) - h;
  const Number y = multiply_add(n, F::ln2_high, small + f);
  return x > 0 ? (x < infinity ? y : x)
               : (x == 0 ? -infinity : std::numeric_limits<Number>::quiet_NaN());
}

// tanh(x) = t / d,  d = t + 2,  t = exp(2 |x|) - 1 = 2^n (exp(r) - 1) + (2^n - 1)
// The quotient y is corrected by what d and y were rounded by: t - y (d + (t - (d - 2))).
template <class Number>
[[gnu::always_inline]] inline Number fast_tanh(Number x) {
  using F = detail::Format<Number>;
  using Integer = typename F::Integer;
  constexpr auto terms = detail::series < Number,
                 F::wide ? 13 : 7 > ([](int k) { return 1 / detail::factorial(k + 2); });
  constexpr Number most = F::wide ? 20 : 10;  // beyond, the nearest number is 1
  const Number size = std::abs(x);
  const auto to = detail::halvings_of(2 * (size > most ? most : size));
  const Number less = multiply_add(to.r * to.r, detail::polynomial(to.r, terms), to.r);
  const Number power =
      F::power_of_two(std::bit_cast<Integer>(to.shifted) - std::bit_cast<Integer>(F::rounder));
  const Number t = multiply_add(power, less, power - 1);
  const Number d = t + 2, inverse = 1 / d, y = t * inverse;
  const Number left = multiply_add(-y, d, t) - y * (t - (d - 2));
  return std::copysign(multiply_add(left, inverse, y), x);
}

namespace detail {

// e^(t^2/2) Phi(-t) = s R(s) for the normal distribution's Phi, t >= 0 and s = 1 / (1 + 0.26 t). R
// is a polynomial, in the form of Hastings 1955, with a relative error of 2.2e-8 in float32 and
// 5e-17 in float64; tools/reference/normal_tail.py computes the coefficients.
template <class Number>
inline constexpr auto normal_tail = [] {
  if constexpr (sizeof(Number) == 4) {
    return std::array{0.1037612619f,  0.1029802138f, 0.1032854237f,  0.05004690433f, 0.1632206346f,
                      -0.1542068095f, 0.2543182347f, -0.1541895075f, 0.03078363322f};
  } else {
    return std::array{0.103724992907146361,   0.103724992688067375,   0.096713191170296554,
                      0.0826893922440999236,  0.0630787518043530388,  0.0406876135332173023,
                      0.0196457629368478101,  0.00123403741677920331, 0.00237268711744299262,
                      -0.0444178461624259934, 0.120440357863544692,   -0.341559052734609322,
                      0.767427951451786869,   -1.36176432559520608,   1.94009500421444815,
                      -2.15826622020056071,   1.81696333066802058,    -1.12822544476049357,
                      0.500934058269465576,   -0.150829642710265342,  0.0276720332879556586,
                      -0.00234162540991107603};
  }
}();

// Phi(-t), from exponential = exp(-t^2/2). A small one keeps its precision, which 1 + erf would
// cancel.
template <class Number>
[[gnu::always_inline]] inline Number normal_below(Number t, Number exponential) {
  const Number s = 1 / multiply_add(Number(0.26), t, 1);
  return exponential * s * polynomial(s, normal_tail<Number>);
}

}  // namespace detail

// erf(x): its Taylor series x (1 + sum_k c_k x^2k) for |x| < 7/8, else 1 - 2 Phi(-sqrt(2) |x|)
template <class Number>
[[gnu::always_inline]] inline Number fast_erf(Number x) {
  constexpr auto terms = detail::series < Number,
                 sizeof(Number) == 8 ? 18 : 10 > ([](int k) {
                                              const double c = 2 * std::numbers::inv_sqrtpi /
                                                               (detail::factorial(k) * (2 * k + 1));
                                              return k == 0 ? c - 1 : k % 2 == 1 ? -c : c;
                                            });
  const Number size = std::abs(x), z = x * x;
  const Number inner = multiply_add(x, detail::polynomial(z, terms), x);
  const Number tail = detail::normal_below(std::numbers::sqrt2_v<Number> * size, exp_of(-z));
  return size < Number(0.875) ? inner : std::copysign(1 - 2 * tail, x);
}

// The sine and the cosine of x, |x| < 10^6: x = n pi/2 + r, the Taylor series of both for r. The
// parts of pi/2 have 33 digits, so that n times them is exact.
struct Circle {
  double sine, cosine;
};
inline Circle circle_at(double x) {
  using F = detail::Format<double>;
  constexpr auto sines = detail::series<double, 9>(
      [](int k) { return (k % 2 == 0 ? -1 : 1) / detail::factorial(2 * k + 3); });
  constexpr auto cosines = detail::series<double, 9>(
      [](int k) { return (k % 2 == 0 ? 1 : -1) / detail::factorial(2 * k + 4); });
  const double shifted = x * (2 * std::numbers::inv_pi) + F::rounder;
  const double n = shifted - F::rounder;
  const double first = x - n * 1.57079632673412561417;
  const double second = first - n * 6.07710050630396597660e-11;
  const double r = second - n * 2.02226624879595063154e-21;
  const double z = r * r, half = 0.5 * z;
  const double sine = multiply_add(r * z, detail::polynomial(z, sines), r);
  const double cosine =
      multiply_add(z * z, detail::polynomial(z, cosines), 1 - half) + ((1 - (1 - half)) - half);
  switch (static_cast<int64_t>(n) & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

// x^n by squares
inline double power(double x, int64_t n) {
  double y = 1;
  for (; n > 0; n /= 2, x *= x) {
    if (n % 2 == 1) y *= x;
  }
  return y;
}

}  // namespace heed
