// Gradient times activation: how the logit of an answer at the last position depends on each part
// of a model and on each token of the prompt. Shrikumar et al. 2016, "Not Just a Black Box"; Nanda
// 2023, "Attribution Patching".
//   m        the logit of the answer, or its difference to that of a wrong one
//   value    the sum over positions of a . (d m / d a), for an activation a of the part: what m
//            would lose without it if m were linear in a
// Of a token a is its embedding. Parts are those of `heed probe write`, which adds up what is
// written to the last position directly; a gradient includes all ways through later blocks:
//   embedding       of all tokens
//   position        what is added to them before the first block, if anything
//   head            z of the head, before out_proj; cross_head: of one to a second sequence
//   attention       its output, of a block whose attention offers no heads
//   out_bias        the bias of out_proj; cross_out_bias
//   feed_forward    its output
//   final_shift     the shift of the norm after the last block
#pragma once

#include "tools/extras/gradients/backward/recording.h"
#include "tools/extras/probe/write.h"

namespace heed::gradients {

struct Part : probe::Contribution {
  std::string layer = {};  // its path: "trf_blocks.1.att"
};

struct TokenShare {
  bool source = false;  // of the second sequence, which an encoder reads
  int64_t position = 0;
  int32_t id = 0;
  double value = 0;
};

struct Attributions {
  double logit = 0;         // m
  std::vector<Part> parts;  // in the order in which they run
  std::vector<TokenShare> tokens;
};

// For a batch of one and a model without dropout. A model without blocks has the embedding as its
// only part. Throws ConfigError as record().
Attributions attribute(Module& model, const Input& in, const probe::Measure& measure);

}  // namespace heed::gradients
