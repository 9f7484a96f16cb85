#include "autograd/random/generator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "autograd/base/elementary.h"
#include "autograd/base/error.h"

namespace heed {
namespace {

constexpr int kWords = GeneratorState::kWords;
constexpr int kShift = 397;  // MT19937's m

// MT19937 (Matsumoto and Nishimura 1998). The words of the sequence follow the recurrence
//   x_(k+624) = x_(k+397) ^ (y >> 1) ^ (0x9908B0DF if y is odd, else 0)
//   y         = the highest bit of x_k, then the lower 31 bits of x_(k+1)
// refill() computes the next 624 words in place, and tempers all of them in one vector loop. A
// drawn number is a tempered word.
uint32_t twist(uint32_t current, uint32_t next, uint32_t shifted) {
  const uint32_t mixed = (current & 0x80000000u) | (next & 0x7FFFFFFFu);
  return shifted ^ (mixed >> 1) ^ ((0u - (next & 1u)) & 0x9908B0DFu);
}

uint32_t temper(uint32_t y) {
  y ^= y >> 11;
  y ^= (y << 7) & 0x9D2C5680u;
  y ^= (y << 15) & 0xEFC60000u;
  return y ^ (y >> 18);
}

}  // namespace

Generator::Generator(uint64_t seed) { manual_seed(seed); }

void Generator::manual_seed(uint64_t seed) {
  auto& s = state_.words;
  s[0] = static_cast<uint32_t>(seed);
  for (uint32_t i = 1; i < kWords; ++i) s[i] = 1812433253u * (s[i - 1] ^ (s[i - 1] >> 30)) + i;
  state_.index = kWords;
  state_.cached_normal.reset();
}

void Generator::refill() {
  uint32_t* s = state_.words.data();
  for (int k = 0; k < kWords - kShift; ++k) s[k] = twist(s[k], s[k + 1], s[k + kShift]);
  for (int k = kWords - kShift; k < kWords - 1; ++k) {
    s[k] = twist(s[k], s[k + 1], s[k + kShift - kWords]);
  }
  s[kWords - 1] = twist(s[kWords - 1], s[0], s[kShift - 1]);
  for (int k = 0; k < kWords; ++k) tempered_[static_cast<size_t>(k)] = temper(s[k]);
  state_.index = 0;
}

uint32_t Generator::random32() {
  if (state_.index == kWords) refill();
  return tempered_[state_.index++];
}

uint64_t Generator::random64() {
  const uint64_t high = random32();
  return (high << 32) | random32();
}

int64_t Generator::random_int63() {
  return static_cast<int64_t>(random64() & (std::numeric_limits<uint64_t>::max() >> 1));
}

double Generator::u53() {
  return static_cast<double>(random64() & ((uint64_t{1} << 53) - 1)) * 0x1p-53;
}

double Generator::normal() {
  if (state_.cached_normal) return *std::exchange(state_.cached_normal, std::nullopt);
  const double u1 = u53();
  const double u2 = u53();
  const double radius = std::sqrt(-2.0 * fast_log(1.0 - u2));  // 1 - u2 is exact
  const Circle at = circle_at(2.0 * std::numbers::pi * u1);
  state_.cached_normal = radius * at.sine;
  return radius * at.cosine;
}

void Generator::words(std::span<uint32_t> out) {
  while (!out.empty()) {
    if (state_.index == kWords) refill();
    const size_t count = std::min<size_t>(out.size(), kWords - state_.index);
    std::copy_n(tempered_.data() + state_.index, count, out.data());
    state_.index += static_cast<uint32_t>(count);
    out = out.subspan(count);
  }
}

void Generator::skip(uint64_t count) {
  while (count > 0) {
    if (state_.index == kWords) refill();
    const auto step = static_cast<uint32_t>(std::min<uint64_t>(count, kWords - state_.index));
    state_.index += step;
    count -= step;
  }
}

GeneratorState Generator::state() const { return state_; }

void Generator::set_state(const GeneratorState& state) {
  require<ConfigError>(state.index <= kWords, "generator state: the index must be at most ", kWords,
                       ", got ", state.index);
  require<ConfigError>(std::ranges::any_of(state.words, [](uint32_t w) { return w != 0; }),
                       "generator state: all ", kWords, " words are zero, which no seed leads to");
  require<ConfigError>(!state.cached_normal || std::isfinite(*state.cached_normal),
                       "generator state: the cached normal is not finite");
  state_ = state;
  std::ranges::transform(state_.words, tempered_.begin(), temper);
}

}  // namespace heed
