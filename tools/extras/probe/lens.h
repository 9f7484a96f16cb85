// The logit lens: what a model would answer if it ended after each of its blocks.
// nostalgebraist 2020, "interpreting GPT: the logit lens".
//   x_0 the sum of the embeddings, x_n the residual stream after block n
//   p_n = softmax(out_head(final_norm(x_n))), at each position
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "layers/module/module.h"

namespace heed::probe {

struct Guess {
  int32_t id = 0;          // the likeliest token
  double probability = 0;  // of it
  // Place, from 1, of the right token among all, ordered by probability; tokens with the same logit
  // come in the order of their ids. It is the next one, so that the last position has none; of a
  // model of masked words the one that stands there, unless that is [MASK], the last token.
  std::optional<int64_t> rank;
};

struct Lens {
  std::vector<int32_t> ids;                // of the T positions
  std::vector<std::vector<Guess>> blocks;  // [0]: after the embeddings; [n]: after block n; T each
  bool in_place = false;                   // of a model of masked words
};

// The model's output if it ended after the embeddings, [0], and after block n, [n]: logits
// (1, T, V) or, of a classifier, (1, V). Otherwise as logit_lens.
std::vector<Array> outputs_after_blocks(Module& model, const Input& in);

// The likeliest of logits (V). `right`: the right one.
Guess guess_of(std::span<const real> logits, std::optional<int32_t> right);

// For a batch of one. Of a model of two sequences, the decoder's blocks. Everything behind the last
// block is applied to each x_n by running the model with x_n in place of the last block's output,
// so the last row has the bits of an evaluation. Throws ConfigError for a model without blocks, or
// one that does not name a token at each position.
Lens logit_lens(Module& model, const Input& in);

}  // namespace heed::probe
