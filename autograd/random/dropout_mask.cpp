#include "autograd/random/dropout_mask.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "autograd/base/error.h"
#include "autograd/base/modes.h"
#ifdef HEED_OWN_KERNELS
#include "autograd/kernels/simd/multiply_modulo.h"
#endif

namespace heed {
namespace {

constexpr uint32_t kModulus = Mcg31::kModulus;
constexpr int kLanes = 64;  // elements made at a time: four AVX-512 registers, eight of AVX2

// a b mod 2^31 - 1, for a in [0, 2^31 - 1] and b in [0, 2^31 - 2]. As 2^31 = 1, the product folds
// to its low 31 bits plus the rest, which is at most twice the modulus; below the modulus the
// subtraction wraps to something huge, so the smaller of the two is the remainder.
constexpr uint32_t product(uint32_t a, uint32_t b) {
  const uint64_t wide = uint64_t{a} * b;
  const uint32_t folded =
      (static_cast<uint32_t>(wide) & kModulus) + static_cast<uint32_t>(wide >> 31);
  return std::min(folded, folded - kModulus);
}

// Powers of the multiplier: multiplier^j for the lanes, and multiplier^(d 256^k) for the
// digits d of an element number written to base 256, so that any power takes four products.
struct Powers {
  alignas(64) uint32_t lane[kLanes];
  uint32_t step;  // multiplier^kLanes
  uint32_t digit[4][256];
};

constexpr Powers make_powers() {
  Powers powers{};
  uint32_t power = 1;
  for (uint32_t& lane : powers.lane) {
    lane = power;
    power = product(power, Mcg31::kMultiplier);
  }
  powers.step = power;
  uint32_t base = Mcg31::kMultiplier;
  for (auto& table : powers.digit) {
    power = 1;
    for (uint32_t& entry : table) {
      entry = power;
      power = product(power, base);
    }
    base = power;
  }
  return powers;
}

constexpr Powers kPowers = make_powers();

// to_j = from_j factor mod 2^31 - 1 for all lanes; to may be from.
void multiply_lanes(const uint32_t* from, uint32_t factor, uint32_t* to) {
#ifdef HEED_OWN_KERNELS
  detail::multiply_modulo<kLanes>(from, factor, to);
#else
#pragma omp simd
  for (int j = 0; j < kLanes; ++j) to[j] = product(from[j], factor);
#endif
}

// Stored bits, of elements first to first + kLanes - 1: x is 0 if kept, else 1.
constexpr int64_t kPadding = 16;  // bytes behind the bits, for `unpack` reads whole words

void unpack(const uint8_t* bits, int64_t first, uint32_t* x) {
  constexpr int kHalf = 32;
  for (int half = 0; half < kLanes; half += kHalf) {
    const int64_t element = first + half;
    uint64_t word;  // little endian, as every CPU this runs on
    std::memcpy(&word, bits + element / 8, sizeof word);
    const auto kept = static_cast<uint32_t>(word >> (element % 8));
    for (int j = 0; j < kHalf; ++j) x[half + j] = (~kept >> j) & 1u;
  }
}

thread_local uint64_t dry_words = 0;

// One bit an element: u53 < 1 - p. With u53 = k 2^-53 that is k < ceil((1 - p) 2^53), exactly.
Mask draw_bits(Generator& generator, double p, int64_t n) {
  constexpr int64_t kElements = 512;
  const auto limit = static_cast<uint64_t>(std::ceil((1.0 - p) * 0x1p53));
  Mask bits = Mask::uninitialised(Shape{(n + 7) / 8 + kPadding});
  if (dry_run()) return bits;
  uint8_t* to = bits.mutable_data();
  std::array<uint32_t, 2 * kElements> words;
  std::array<uint8_t, kElements> kept;
  for (int64_t first = 0; first < n; first += kElements) {
    const int64_t count = std::min(kElements, n - first);
    generator.words({words.data(), static_cast<size_t>(2 * count)});
    kept.fill(0);
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t high = words[2 * i] & 0x1FFFFFu;
      kept[i] = ((high << 32) | words[2 * i + 1]) < limit;
    }
    for (int64_t i = 0; i < count; i += 8) {
      uint64_t
          eight;  // bytes of 0 or 1; the product gathers them in its top byte, first byte lowest
      std::memcpy(&eight, kept.data() + i, sizeof eight);
      *to++ = static_cast<uint8_t>((eight * 0x0102040810204080u) >> 56);
    }
  }
  std::fill_n(to, kPadding, uint8_t{0});
  return bits;
}

}  // namespace

Mcg31 Mcg31::draw(Generator& generator) {
  const uint32_t seed = generator.random32() % kModulus;
  return {seed == 0 ? 1 : seed};
}

uint32_t Mcg31::at(int64_t i) const {
  // multiplier^(2^31 - 2) = 1 (Fermat), so the element number counts modulo 2^31 - 2.
  auto rest = static_cast<uint32_t>(i % (kModulus - 1));
  uint32_t x = x0;
  for (const auto& table : kPowers.digit) {
    x = product(x, table[rest & 255]);
    rest >>= 8;
  }
  return x;
}

uint32_t Mcg31::threshold(double p) {
  // Dividing and rounding keep the order, so the kept x are those below some integer, and that is
  // within a few of the real quotient.
  const auto kept = [p](int64_t x) { return static_cast<double>(x) / kModulus < 1.0 - p; };
  auto limit = static_cast<int64_t>((1.0 - p) * kModulus);
  while (limit > 0 && !kept(limit - 1)) --limit;
  while (limit < kModulus && kept(limit)) ++limit;
  return static_cast<uint32_t>(limit);
}

// Calls body(offset, count, x) for at most kLanes elements at a time, where element
// first + offset + j is kept if x[j] < threshold_. The count of a whole block is a compile-time
// constant.
template <class F>
void DropoutMask::for_blocks(int64_t first, int64_t n, F&& body) const {
  using WholeBlock = std::integral_constant<int, kLanes>;
  alignas(64) uint32_t x[kLanes];
  const auto each = [&](auto&& next) {  // next(offset) replaces the x of one block by the following
    int64_t done = 0;
    for (; n - done > kLanes; next(done)) {
      body(done, WholeBlock{}, x);
      done += kLanes;
    }
    if (n - done == kLanes) {
      body(done, WholeBlock{}, x);
    } else {
      body(done, static_cast<int>(n - done), x);
    }
  };
  if (kind_ == Kind::mcg31) {
    multiply_lanes(kPowers.lane, mcg31_.at(first), x);
    each([&](int64_t) { multiply_lanes(x, kPowers.step, x); });
  } else if (kind_ == Kind::mt19937) {
    const uint8_t* const bits = bits_.data();
    unpack(bits, first, x);
    each([&](int64_t offset) { unpack(bits, first + offset, x); });
  } else {
    std::fill_n(x, kLanes, 0u);
    each([](int64_t) {});
  }
}

// In the loops below no pointer is read through `this` or a capture: the output might alias it,
// which keeps a compiler from vectorising.

void DropoutMask::scale(int64_t first, int64_t n, real* out) const {
  for_blocks(first, n, [this, out](int64_t offset, auto count, const uint32_t* x) {
    const uint32_t limit = threshold_;
    const real factor = factor_;
    real* const to = out + offset;
#pragma omp simd
    for (int j = 0; j < count; ++j) to[j] = x[j] < limit ? factor : real(0);
  });
}

// A dropped element is multiplied by 0, not set to it: -1 gives -0 and infinity gives NaN, as in
// PyTorch.
void DropoutMask::multiply(int64_t first, int64_t n, const real* in, real* out) const {
  for_blocks(first, n, [this, in, out](int64_t offset, auto count, const uint32_t* x) {
    const uint32_t limit = threshold_;
    const real factor = factor_;
    const real* const from = in + offset;
    real* const to = out + offset;
#pragma omp simd
    for (int j = 0; j < count; ++j) to[j] = from[j] * (x[j] < limit ? factor : real(0));
  });
}

void DropoutMask::sign(int64_t first, int64_t n, const real* in, real* out) const {
  for_blocks(first, n, [this, in, out](int64_t offset, auto count, const uint32_t* x) {
    const uint32_t limit = threshold_;
    const real* const from = in + offset;
    real* const to = out + offset;
#pragma omp simd
    for (int j = 0; j < count; ++j) to[j] = x[j] < limit ? from[j] : -from[j];
  });
}

DropoutMask make_dropout_mask(Generator& generator, DropoutStream stream, double p, int64_t n,
                              bool training) {
  require<ConfigError>(p >= 0.0 && p <= 1.0, "dropout: p must be in [0, 1], got ", p);
  require(n >= 0, "dropout: the number of elements must be at least 0, got ", n);
  using Kind = DropoutMask::Kind;
  DropoutMask mask;
  if (!training || p == 0.0 || n == 0) return mask;
  if (p == 1.0) {
    mask.kind_ = Kind::zero;
    mask.factor_ = 0;
    mask.threshold_ = 0;
    return mask;
  }
  mask.factor_ = real(1) / static_cast<real>(1.0 - p);
  if (dry_run()) {
    dry_words += stream == DropoutStream::mcg31 ? 1 : 2 * static_cast<uint64_t>(n);
  }
  if (stream == DropoutStream::mcg31) {
    mask.kind_ = Kind::mcg31;
    if (!dry_run()) mask.mcg31_ = Mcg31::draw(generator);
    mask.threshold_ = Mcg31::threshold(p);
  } else {
    mask.kind_ = Kind::mt19937;
    mask.bits_ = draw_bits(generator, p, n);
  }
  return mask;
}

uint64_t words_of_dry_masks() { return dry_words; }

}  // namespace heed
