// Inputs with numbers, of every form that a layer takes: for whatever checks a layer of which
// nothing is known but its sizes (see probe.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "autograd/random/generator.h"
#include "autograd/random/streams.h"
#include "layers/check/probe.h"

namespace heed {

// Gives the random streams back as they were.
class KeepStreams {
 public:
  KeepStreams() : before_(streams().state()) {}
  ~KeepStreams() { streams().set_state(before_); }
  KeepStreams(const KeepStreams&) = delete;
  KeepStreams& operator=(const KeepStreams&) = delete;

 private:
  const StreamsState before_;
};

// A kind of input: a batch (0: a single sequence) of tokens, a second sequence where the layer
// takes one, a mask.
struct InputForm {
  int64_t batch = 0;
  int64_t tokens = 0;
  int64_t source_tokens = 0;
  Mask mask = {};
};

// Batches, single sequences, one token and, with `masks`, padding; of at most `most` tokens.
std::vector<InputForm> input_forms(const InputSizes& sizes, int64_t most, bool masks);

// "x (2, 5, 4), mask (2, 5)"
std::string describe(const InputSizes& sizes, const InputForm& form);

// x and context uniform in [-1.5, 1.5), ids from their vocabularies.
Input random_input(const InputSizes& sizes, const InputForm& form, const Module& layer,
                   Generator& generator);

Array uniform_array(const Shape& shape, double low, double high, Generator& generator);

// Adds uneven numbers to every parameter: after initialisation some are 0 or 1, which hides
// mistakes.
void perturb(Module& layer, uint64_t seed);

// y, the gradients "x" and "context" (not of ids) and those of the parameters by name; what got
// none has zeros.
using LayerResults = std::map<std::string, Array>;

// Runs forward and backward, `dy` (uneven numbers without it) as the cotangent; the dropout stream
// is seeded first, the gradients are cleared before and after.
LayerResults run_layer(Module& layer, const Input& in, const Array& dy = {});

}  // namespace heed
