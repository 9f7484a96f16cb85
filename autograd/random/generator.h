// PyTorch's random generator on the CPU, MT19937: the same seed and the same calls give the same
// numbers as PyTorch and leave the generator in the same state.
//
// Source: PyTorch 2.13, aten/src/ATen/core/MT19937RNGEngine.h and DistributionsHelper.h. The state
// is a sequence of 32-bit words; the comment of each function gives the number of words it takes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace heed {

// The complete state of a generator, as a checkpoint stores it.
struct GeneratorState {
  static constexpr int kWords = 624;
  std::array<uint32_t, kWords> words{};
  uint32_t index = kWords;              // of the next word; 624: compute the next 624 words first
  std::optional<double> cached_normal;  // the second number of a Box-Muller pair

  bool operator==(const GeneratorState&) const = default;
};

// torch.Generator after manual_seed(seed). As in PyTorch, only the low 32 bits of the seed count.
class Generator {
 public:
  explicit Generator(uint64_t seed = kDefaultSeed);

  static constexpr uint64_t kDefaultSeed = 67280421310721;  // PyTorch's, when no seed is set

  void manual_seed(uint64_t seed);  // also drops the cached normal

  uint32_t random32();     // one word
  uint64_t random64();     // two words, the first is the high half
  int64_t random_int63();  // torch `random_()` on int64: random64 mod 2^63, two words
  double u53();            // [0, 1), the low 53 bits of random64: two words
  double normal();         // N(0, 1), four words every other call (the cosine, then the sine)
  void words(std::span<uint32_t> out);  // the next out.size() words
  void skip(uint64_t count);            // as many words

  GeneratorState state() const;
  // ConfigError if the index is above 624, all words are zero or the cached normal is not finite.
  void set_state(const GeneratorState& state);

 private:
  void refill();

  GeneratorState state_;
  std::array<uint32_t, GeneratorState::kWords> tempered_;  // tempered state_.words
};

}  // namespace heed
