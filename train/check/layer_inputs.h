// Random inputs of every form that a layer accepts, for checks that know only the sizes of the
// layer (see probe.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "autograd/random/generator.h"
#include "autograd/random/streams.h"
#include "train/check/probe.h"

namespace heed {

// Restores the random streams at the end of the scope.
class KeepStreams {
 public:
  KeepStreams() : before_(streams().state()) {}
  ~KeepStreams() { streams().set_state(before_); }
  KeepStreams(const KeepStreams&) = delete;
  KeepStreams& operator=(const KeepStreams&) = delete;

 private:
  const StreamsState before_;
};

// The form of an input: batch size (0: a single sequence), number of tokens, length of the second
// sequence if the layer takes one, mask.
struct InputForm {
  int64_t batch = 0;
  int64_t tokens = 0;
  int64_t source_tokens = 0;
  Mask mask = {};
};

// The forms to check: a batch, a single sequence, one token and, with `masks`, padding masks; x has
// at most `most` tokens.
std::vector<InputForm> input_forms(const InputSizes& sizes, int64_t most, bool masks);

// "x (2, 5, 4), mask (2, 5)"
std::string describe(const InputSizes& sizes, const InputForm& form);

// x and context uniform in [-1.5, 1.5), ids from their vocabularies.
Input random_input(const InputSizes& sizes, const InputForm& form, const Module& layer,
                   Generator& generator);

Array uniform_array(const Shape& shape, double low, double high, Generator& generator);

// Adds random numbers in [-0.3, 0.3) to every parameter, since initial values of 0 or 1 can hide
// errors.
void perturb(Module& layer, uint64_t seed);

// The output "y", the gradients "x" and "context" (if the layer takes them), and those of the
// parameters by name. Zeros for a tensor that got no gradient.
using LayerResults = std::map<std::string, Array>;

// Runs forward and backward with the cotangent `dy` (random if absent). Seeds the dropout stream
// first, and clears the gradients before and after.
LayerResults run_layer(Module& layer, const Input& in, const Array& dy = {});

}  // namespace heed
