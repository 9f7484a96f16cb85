#include "autograd/random/fills.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "autograd/base/error.h"
#include "autograd/base/modes.h"

namespace heed {
namespace {

constexpr int64_t kChunk = 1024;  // words that a fill draws at a time, on the stack
constexpr int64_t kBlock = 16;    // elements of one Box-Muller block

// Uniform in [0, 1), from the low 24 bits of a word.
float u24_of(uint32_t word) { return static_cast<float>(word & 0xFFFFFFu) * 0x1p-24f; }

// Draws a word for each of n elements. Calls body(offset, count, words) for each chunk of at most
// kChunk words.
template <class F>
void draw_chunks(Generator& generator, int64_t n, F&& body) {
  std::array<uint32_t, kChunk> words;
  for (int64_t done = 0; done < n; done += kChunk) {
    const int64_t count = std::min(n - done, kChunk);
    generator.words({words.data(), static_cast<size_t>(count)});
    body(done, count, words.data());
  }
}

// Normal numbers in blocks of 16, as normal_fill of PyTorch computes them (Box and Muller 1958). A
// block holds 8 pairs (a_j, b_j) of uniform numbers, a in elements 0 to 7 and b in 8 to 15, and is
// replaced by
//   r_j  = sqrt(-2 log(1 - a_j))
//   a_j' = r_j cos(2 pi b_j) std + mean
//   b_j' = r_j sin(2 pi b_j) std + mean
//
// To get the same bits, the arithmetic must be that of PyTorch's AVX2 build, which also runs on
// CPUs with AVX-512. It computes log, sin and cos by the single precision polynomials of Cephes
// (S. Moshier, logf.c and sinf.c), and fuses each multiplication with the addition that follows
// it. Here every such pair is an explicit fma, and no other product is added to anything. The
// compiler therefore has nothing left to fuse, and the bits do not depend on its flags.

// log(x) for a normal x > 0. With x = m 2^e, m in [sqrt(1/2), sqrt(2)):
//   log(x) = log(m) + e log(2),  log(1 + d) = d - d^2/2 + d^3 P(d),  d = m - 1
// In the code m is d, and log(2) is 0.693359375 - 2.12e-4: the first part has few digits, so its
// product with e is exact.
[[gnu::always_inline]] inline float cephes_log(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  float exponent = static_cast<float>(static_cast<int32_t>(bits >> 23) - 126);
  const float mantissa = std::bit_cast<float>((bits & 0x007FFFFFu) | 0x3F000000u);
  const bool low = mantissa < 0.707106781186547524f;
  exponent -= low ? 1.0f : 0.0f;
  const float m = (mantissa - 1.0f) + (low ? mantissa : 0.0f);
  const float z = m * m;
  float y = 7.0376836292e-2f;
  y = std::fma(y, m, -1.1514610310e-1f);
  y = std::fma(y, m, 1.1676998740e-1f);
  y = std::fma(y, m, -1.2420140846e-1f);
  y = std::fma(y, m, 1.4249322787e-1f);
  y = std::fma(y, m, -1.6668057665e-1f);
  y = std::fma(y, m, 2.0000714765e-1f);
  y = std::fma(y, m, -2.4999993993e-1f);
  y = std::fma(y, m, 3.3333331174e-1f);
  const float cubic = y * m;
  y = std::fma(cubic, z, exponent * -2.12194440e-4f);
  y = std::fma(z, -0.5f, y);
  return std::fma(exponent, 0.693359375f, m + y);
}

// sin and cos of theta in [0, 2 pi]. The angle is reduced to x = theta - j pi/4 in [-pi/4, pi/4],
// with j even; pi/4 is the sum of three floats, so the reduction loses no digits. `even` is then
// cos(x) and `odd` is sin(x). The octant j decides which of the two is the sine, and both signs.
[[gnu::always_inline]] inline void cephes_sincos(float theta, float& sine, float& cosine) {
  const int32_t octant = (static_cast<int32_t>(theta * 1.27323954473516f) + 1) & ~1;
  const float j = static_cast<float>(octant);
  float x = std::fma(j, -0.78515625f, theta);
  x = std::fma(j, -2.4187564849853515625e-4f, x);
  x = std::fma(j, -3.77489497744594108e-8f, x);
  const float z = x * x;
  float even = std::fma(2.443315711809948e-5f, z, -1.388731625493765e-3f);
  even = std::fma(even, z, 4.166664568298827e-2f);
  even = std::fma(even * z, z, -(z * 0.5f)) + 1.0f;
  float odd = std::fma(-1.9515295891e-4f, z, 8.3321608736e-3f);
  odd = std::fma(odd, z, -1.6666654611e-1f);
  odd = std::fma(odd * z, x, x);
  const bool swapped = (octant & 2) != 0;
  const uint32_t sine_sign = static_cast<uint32_t>(octant & 4) << 29;
  const uint32_t cosine_sign = static_cast<uint32_t>(~(octant - 2) & 4) << 29;
  sine = std::bit_cast<float>(std::bit_cast<uint32_t>(swapped ? even : odd) ^ sine_sign);
  cosine = std::bit_cast<float>(std::bit_cast<uint32_t>(swapped ? odd : even) ^ cosine_sign);
}

[[gnu::always_inline]] inline void box_muller(float* block, float mean, float std) {
  constexpr int kPairs = kBlock / 2;
  float radius[kPairs];
  for (int j = 0; j < kPairs; ++j) radius[j] = -2.0f * cephes_log(1.0f - block[j]);
  for (float& r : radius) r = std::sqrt(r);
  for (int j = 0; j < kPairs; ++j) {
    float sine;
    float cosine;
    cephes_sincos(static_cast<float>(2.0 * std::numbers::pi) * block[j + kPairs], sine, cosine);
    block[j] = std::fma(radius[j] * cosine, std, mean);
    block[j + kPairs] = std::fma(radius[j] * sine, std, mean);
  }
}

void box_muller_blocks(float* values, int64_t n, float mean, float std) {
  for (int64_t i = 0; i < n; i += kBlock) box_muller(values + i, mean, std);
}

#if defined(__x86_64__) && !defined(__FMA__)
// For a build that also runs on CPUs without FMA, in which each std::fma is a call. On a CPU with
// FMA this version is 40 times as fast and gives the same bits.
[[gnu::target("avx2,fma")]] void box_muller_blocks_fma(float* values, int64_t n, float mean,
                                                       float std) {
  for (int64_t i = 0; i < n; i += kBlock) box_muller(values + i, mean, std);
}
#endif

void transform_blocks(float* values, int64_t n, float mean, float std) {
#if defined(__x86_64__) && !defined(__FMA__)
  if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) {
    box_muller_blocks_fma(values, n, mean, std);
    return;
  }
#endif
  box_muller_blocks(values, n, mean, std);
}

void fill_normal_blocks(Generator& generator, std::span<real> out, float mean, float std) {
  const int64_t n = std::ssize(out);
  std::array<float, kChunk> values;
  const auto transform = [&](const uint32_t* words, int64_t count, real* to) {
    for (int64_t i = 0; i < count; ++i) values[static_cast<size_t>(i)] = u24_of(words[i]);
    transform_blocks(values.data(), count, mean, std);
    std::copy_n(values.data(), count, to);
  };
  const int64_t whole = n - n % kBlock;
  draw_chunks(generator, whole, [&](int64_t first, int64_t count, const uint32_t* words) {
    transform(words, count, out.data() + first);
  });
  if (whole == n) return;
  // An incomplete block, as in PyTorch: its words are drawn and dropped, then the last 16 elements
  // are drawn again, from 16 new words.
  std::array<uint32_t, kBlock> words;
  generator.words({words.data(), static_cast<size_t>(n - whole)});
  generator.words(words);
  transform(words.data(), kBlock, out.data() + n - kBlock);
}

}  // namespace

void fill_uniform(Generator& generator, std::span<real> out, double low, double high) {
  require<ConfigError>(std::isfinite(low) && std::isfinite(high) && low <= high,
                       "uniform: expected finite low <= high, got low ", low, " and high ", high);
  if (dry_run()) return;
  const float start = static_cast<float>(low);
  const float width = static_cast<float>(high) - start;
  draw_chunks(generator, std::ssize(out), [&](int64_t first, int64_t n, const uint32_t* words) {
    for (int64_t i = 0; i < n; ++i)
      out.data()[first + i] = std::fma(u24_of(words[i]), width, start);
  });
}

void fill_normal(Generator& generator, std::span<real> out, double mean, double std) {
  require<ConfigError>(std::isfinite(mean) && std::isfinite(std) && std >= 0.0,
                       "normal: expected a finite mean and std >= 0, got mean ", mean, " and std ",
                       std);
  if (dry_run()) return;
  if (std::ssize(out) >= kBlock) {
    fill_normal_blocks(generator, out, static_cast<float>(mean), static_cast<float>(std));
    return;
  }
  for (real& x : out) x = static_cast<float>(std::fma(generator.normal(), std, mean));
}

void fill_randint(Generator& generator, std::span<int64_t> out, int64_t low, int64_t high) {
  require<ConfigError>(low < high, "randint: expected low < high, got low ", low, " and high ",
                       high);
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  const bool wide = range >= (1u << 28);
  for (int64_t& x : out) {
    const uint64_t drawn = wide ? generator.random64() : generator.random32();
    x = static_cast<int64_t>(static_cast<uint64_t>(low) + drawn % range);
  }
}

std::vector<int64_t> randperm(Generator& generator, int64_t n) {
  constexpr int64_t kLimit = (int64_t{1} << 32) / 20;
  require<ConfigError>(n >= 0 && n < kLimit, "randperm: n must be in [0, ", kLimit, "), got ", n);
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (int64_t i = 0; i + 1 < n; ++i) {
    const int64_t ahead = generator.random32() % (n - i);
    std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(i + ahead)]);
  }
  return order;
}

int64_t data_loader_seed(Generator& generator) {
  generator.random_int63();  // the seed of worker processes: drawn even if there are none
  return generator.random_int63();
}

std::vector<int64_t> data_loader_order(int64_t seed, int64_t n) {
  Generator sampler(static_cast<uint64_t>(seed));
  return randperm(sampler, n);
}

void data_loader_unshuffled(Generator& generator) { generator.random_int63(); }

}  // namespace heed
