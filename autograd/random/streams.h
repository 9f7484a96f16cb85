// The random generators of a thread: one per purpose, or one for all.
#pragma once

#include <cstdint>
#include <string>

#include "autograd/random/generator.h"

namespace heed {

// Which random numbers decide the elements that dropout keeps (autograd/random/dropout_mask.h):
//   mcg31     one word seeds a whole mask, element i follows from i alone (PyTorch <= 2.6, Linux)
//   mt19937   two words per element, drawn in order (PyTorch >= 2.7)
enum class DropoutStream { mcg31, mt19937 };

// separate: one generator per purpose, all with the same seed, so that drawing from one does not
//           change the numbers of another.
// single:   initialisation, data and dropout share a generator, as in a script that calls
//           torch.manual_seed once.
enum class Generators { separate, single };

// "mcg31", "separate", ...: the words in configs and checkpoints, and the values they name. An
// unknown word is a ConfigError, which suggests the nearest known one.
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

// The generators of a thread. With either mode text is sampled from a separate generator, and
// evaluation draws from none.
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
  // ConfigError if a generator cannot have its state, or if the mode is single and the states of
  // init, data and dropout differ. Nothing is changed in that case.
  void set_state(const StreamsState& state);

 private:
  Generators mode_;
  DropoutStream dropout_stream_;
  Generator shared_;  // initialisation; with `single` data and dropout too
  Generator data_, dropout_, sampling_;
};

// The current generators of this thread, at first with PyTorch's seed.
Streams& streams();

// Seeds all generators of this thread, as torch.manual_seed(seed) does.
void manual_seed(uint64_t seed, Generators mode = Generators::separate,
                 DropoutStream dropout_stream = DropoutStream::mcg31);

}  // namespace heed
