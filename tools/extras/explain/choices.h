// The tokens that may come next, as a tree: what a model answers after each of its own answers.
#pragma once

#include <cstdint>
#include <vector>

#include "layers/module/module.h"

namespace heed::explain {

// A sequence that the model has read.
struct Choice {
  int64_t parent = -1;  // the sequence without its last token; -1 for the first, the prompt
  int32_t token = 0;    // that last token
  Array logits;         // (V): what comes next
};

struct ChoiceOptions {
  int64_t tokens = 12;    // the longest continuation
  int64_t sequences = 1;  // at most; the likeliest are taken, and always the greedy one
  int64_t context = 0;    // of the model: it sees the last so many tokens
  int32_t end = -1;       // the token after which nothing comes; -1: none
};

// in: ids (1, T) and, of a model of two sequences, its source. Every sequence is run as a whole, so
// its logits have the bits of an evaluation.
std::vector<Choice> likeliest_choices(Module& model, const Input& in, const ChoiceOptions& options);

}  // namespace heed::explain
