// What each head attends to. The scores are those of Olsson et al. 2022, "In-context Learning and
// Induction Heads", and of TransformerLens' head detector.
//
// On L random tokens repeated twice, T = 2 L, with attn_weights w_ts, averaged over sequences and
// positions t that count:
//   previous_token   w_(t, t-1)       t >= 1
//   duplicate_token  w_(t, t-L)       t >= L: the same token, where it stood before
//   induction        w_(t, t-L+1)     t >= L: the token that followed it there
//   first_token      w_(t, 0)         t >= 1
//   entropy          -sum_s w_ts ln w_ts, in nats; 0: one token only, ln T: all alike
// On examples, where tokens repeat as they will:
//   duplicate_token  sum of w_ts over earlier s with the token of t, where there are any
//   induction        sum of w_ts over the places s <= t that follow these
// Cross-attention reads another sequence, in which these three mean nothing; it has `diagonal`:
//   diagonal         w_(t, t)         the source token of the same number
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "layers/module/module.h"

namespace heed::probe {

struct HeadScore {
  std::string layer;  // path of the attention: "trf_blocks.1.att"
  int64_t block = 0;  // number of its block within its stack, from 0
  int64_t head = 0;   // within the attention, from 0
  bool cross = false;
  // None where there was nothing to average, or no meaning.
  std::optional<double> previous_token, duplicate_token, induction, first_token, diagonal;
  double entropy = 0;
};

struct HeadScores {
  std::optional<int64_t> repeat;  // L; none: examples
  std::vector<std::vector<int32_t>> sequences;
  std::vector<HeadScore> heads;  // in the order in which they run
};

// Sequences of `length` random tokens of the model's vocabulary, repeated twice, (count, 2 length),
// from a generator with this seed; for both sequences of a model that reads two. Throws ConfigError
// if they are longer than the model's.
Input repeated_tokens(const Module& model, int64_t count, int64_t length, uint64_t seed);
// Without --sequences, and without --repeat: half the longest sequence of the model.
inline constexpr int64_t default_sequences = 8;
int64_t default_repeat(const Module& model);

// "block 1 head 0"; of a model of two sequences, with the stack and the part: "decoder_blocks 1
// cross_att head 0".
std::string head_name(const HeadScore& head, const HeadScores& all);

// Throws ConfigError for a model without blocks, or whose attention offers no heads; `probe` begins
// the message.
void require_heads(Module& model, const Input& in, const std::string& probe);
// Scores the heads of all blocks. `repeat` is L for an input of repeated_tokens(), none for others.
// Throws ConfigError for a model without blocks, or whose attention offers no heads. Blocks without
// any are left out next to others.
HeadScores score_heads(Module& model, const Input& in, std::optional<int64_t> repeat);

}  // namespace heed::probe
