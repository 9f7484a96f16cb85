// Inputs of every form that a layer accepts, made from its Signature.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "autograd/random/generator.h"
#include "autograd/random/streams.h"
#include "layers/module/module.h"

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

// The member of Input for this layer's mask: source_mask if it reads source_ids, otherwise mask.
Mask Input::*mask_member(const Signature& signature);

// The layer's signature with a number for every size that may be any: the width of x is `width`,
// or 4 if that is 0; a context is as wide as x.
Signature sized_signature(const Module& layer, int64_t width = 0);

// An uninitialised input without a mask, for a dry run: (batch, tokens), or (tokens) if batch is 0.
// A context or source has `source_tokens` tokens. Every size of the signature is given.
Input blank_input(const Signature& sizes, int64_t batch, int64_t tokens, int64_t source_tokens);

// The form of an input: batch size (0: a single sequence), number of tokens, length of the second
// sequence if the layer takes one, mask.
struct InputForm {
  int64_t batch = 0;
  int64_t tokens = 0;
  int64_t source_tokens = 0;
  Mask mask = {};
};

// The forms to check: a batch, a single sequence, one token and, if the layer takes a mask, padding
// masks; x has at most `most` tokens.
std::vector<InputForm> input_forms(const Signature& sizes, int64_t most);

// "x (2, 5, 4), mask (2, 5)"
std::string describe(const Signature& sizes, const InputForm& form);

// x and context uniform in [-1.5, 1.5), ids from their vocabularies.
Input random_input(const Signature& sizes, const InputForm& form, Generator& generator);

Array uniform_array(const Shape& shape, double low, double high, Generator& generator);

// Adds random numbers in [-0.3, 0.3) to every parameter, since initial values of 0 or 1 can hide
// errors.
void perturb(Module& layer, Generator& generator);

// The output "y", "the loss NAME" of each that a layer adds, and gradients by the names of leaves.
// In the order of their names, y first.
struct YFirst {
  bool operator()(const std::string& a, const std::string& b) const {
    return a == "y" || b == "y" ? b != "y" : a < b;
  }
};
using RunResults = std::map<std::string, Array, YFirst>;

// Runs forward, then backward with a random cotangent. A leaf that gets no gradient is left out.
// The gradients are cleared before and after.
RunResults run_leaves(std::vector<NamedParameter> leaves, const std::function<Tensor()>& forward);

// The same for a layer, whose leaves are its parameters, "x" and "context". Seeds the dropout
// stream first. A leaf that gets no gradient has zeros.
RunResults run_layer(Module& layer, const Input& in);

}  // namespace heed
