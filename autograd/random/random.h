// The random numbers of PyTorch on the CPU: same seed and same calls, same numbers, and the stream
// left in the same place.
//
// Source: PyTorch 2.13 (MT19937, aten/src/ATen/core/MT19937RNGEngine.h, DistributionsHelper.h,
// native/cpu/DistributionTemplates.h). Every fill says how many 32-bit words it takes. Under
// HEED_FLOAT64 the float32 numbers are drawn and widened, as `net.double()` does. During a dry run
// (autograd/base/dry_run.h) fills of `real` and dropout masks draw nothing and write nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "autograd/base/real.h"

namespace heed {

// All there is to a generator: what a checkpoint stores.
struct GeneratorState {
  static constexpr int kWords = 624;
  std::array<uint32_t, kWords> words{};
  uint32_t index = kWords;              // next word to hand out; 624: twist first
  std::optional<double> cached_normal;  // second half of a Box-Muller pair

  bool operator==(const GeneratorState&) const = default;
};

// torch.manual_seed(seed): MT19937. Only the low 32 bits of the seed count, as in PyTorch.
class Generator {
 public:
  explicit Generator(uint64_t seed = kDefaultSeed);

  static constexpr uint64_t kDefaultSeed = 67280421310721;  // PyTorch's, when no seed is set

  void manual_seed(uint64_t seed);  // also forgets the cached normal

  uint32_t random32();     // one word
  uint64_t random64();     // two words, the first is the high half
  int64_t random_int63();  // torch `random_()` on int64: random64 mod 2^63, two words
  float u24();             // [0, 1), one word
  double u53();            // [0, 1), two words
  double normal();         // N(0, 1), four words every other call (the cosine, then the sine)
  void words(std::span<uint32_t> out);  // the next out.size() words

  GeneratorState state() const;
  // ConfigError if the index is above 624, all words are zero or the cached normal is not finite.
  void set_state(const GeneratorState& state);

 private:
  void refill();

  GeneratorState state_;
  std::array<uint32_t, GeneratorState::kWords> tempered_;  // tempered state_.words
};

// Tensor.uniform_(low, high): one word an element. ConfigError unless low <= high, both finite.
void fill_uniform(Generator& generator, std::span<real> out, double low = 0.0, double high = 1.0);

// Tensor.normal_(mean, std). Fewer than 16 elements: Box-Muller in double with the cached half
// (four words a pair). From 16 on: blocks of 16 in float, n words, and 16 more when 16 does not
// divide n, for the last 16 are then drawn anew. ConfigError unless std >= 0, both finite.
void fill_normal(Generator& generator, std::span<real> out, double mean = 0.0, double std = 1.0);

// Tensor.bernoulli_(p): 1 with probability p, else 0; two words an element. ConfigError unless 0 <=
// p <= 1.
void fill_bernoulli(Generator& generator, std::span<real> out, double p);

// torch.randint(low, high): integers in [low, high). One word an element, two when high - low >=
// 2^28. ConfigError unless low < high.
void fill_randint(Generator& generator, std::span<int64_t> out, int64_t low, int64_t high);

// torch.randperm(n): n - 1 words. ConfigError unless 0 <= n < 2^32 / 20 (PyTorch shuffles larger
// ones in another way).
std::vector<int64_t> randperm(Generator& generator, int64_t n);

// One epoch of DataLoader(shuffle=True) over n items: four words, whatever n is. The order itself
// comes from a private generator.
std::vector<int64_t> data_loader_order(Generator& generator, int64_t n);

// The same in two parts: what an epoch draws, a number >= 0, and the order that follows from it.
int64_t data_loader_seed(Generator& generator);
std::vector<int64_t> data_loader_order(int64_t seed, int64_t n);

// What making the iterator of DataLoader(shuffle=False) draws: two words that nothing uses.
void data_loader_unshuffled(Generator& generator);

// Which numbers decide what dropout keeps (autograd/random/dropout_mask.h).
//   mcg31    one word seeds a whole mask, element i follows from i alone: PyTorch on Linux up
//   to 2.6 mt19937  two words an element, serial: PyTorch 2.7 and later
enum class DropoutStream { mcg31, mt19937 };

// separate: one generator a purpose, each seeded alike, so that none moves another.
// single: initialisation, data and dropout share one, the numbers of a script that seeds once.
enum class Generators { separate, single };

// "mcg31", "separate", ... as in a config, and back; an unknown word is a ConfigError that names
// the near one.
std::string name_of(DropoutStream stream);
std::string name_of(Generators mode);
DropoutStream dropout_stream_from(const std::string& name);
Generators generators_from(const std::string& name);

struct StreamsState {
  Generators mode = Generators::separate;
  DropoutStream dropout_stream = DropoutStream::mcg31;
  GeneratorState init, data, dropout, sampling;  // single: the first three are equal

  bool operator==(const StreamsState&) const = default;
};

// The generators of a process. Sampling text always has its own; evaluation draws from none.
class Streams {
 public:
  explicit Streams(uint64_t seed = Generator::kDefaultSeed, Generators mode = Generators::separate,
                   DropoutStream dropout_stream = DropoutStream::mcg31);

  Generator& init() { return shared_; }
  Generator& data() { return mode_ == Generators::single ? shared_ : data_; }
  Generator& dropout() { return mode_ == Generators::single ? shared_ : dropout_; }
  Generator& sampling() { return sampling_; }
  Generators mode() const { return mode_; }
  DropoutStream dropout_stream() const { return dropout_stream_; }

  StreamsState state() const;
  // ConfigError for a state no generator can have, or, with `single`, three states that differ;
  // nothing is changed then.
  void set_state(const StreamsState& state);

 private:
  Generators mode_;
  DropoutStream dropout_stream_;
  Generator shared_;  // initialisation; with `single` data and dropout too
  Generator data_, dropout_, sampling_;
};

// The current streams of this process. Not for use by several threads at once.
Streams& streams();

// Seeds all of them afresh, as torch.manual_seed(seed) would.
void manual_seed(uint64_t seed, Generators mode = Generators::separate,
                 DropoutStream dropout_stream = DropoutStream::mcg31);

}  // namespace heed
