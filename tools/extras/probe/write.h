// Direct logit attribution: what each part of a model adds to the logit of an answer at the last
// position. Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; defined as in
// TransformerLens (ActivationCache.logit_attrs).
//   x        the residual stream after the last block, at the last position: a sum of parts
//   y        = (x - mean x) / s * scale + shift, the last norm: s = sqrt(var x + eps); of an
//            rms_norm the mean stays and s = sqrt(mean x^2 + eps)
//   logit    = u . y + b, with u the answer's row of the output layer
//   part p   adds u . ((p - mean p) / s * scale). s is that of x: "held"
// The sum over all parts is the logit. Parts by name:
//   embedding       of the last token
//   position        what is added to it before the first block, if anything
//   head            z of the head through out_proj, without bias
//   attention       its output, of a block whose attention offers no heads, next to others
//   out_bias        what the attention gives where every z is 0
//   feed_forward    its output, bias included
//   final_shift     u . shift + b
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/extras/report/parts.h"

namespace heed::probe {

struct Contribution {
  std::string part;
  std::optional<int64_t> block, head;  // from 0; none where it has no meaning
  double value = 0;
};

struct Attribution {
  double logit = 0;
  std::vector<Contribution> parts;  // in the order in which they run
};

using Row = std::vector<double>;  // (d_model), of one position
// Of the last position.
Row last_row(const Array& value);
Row difference(const Row& a, const Row& b);
// The logits (V) of each row in place of what a layer gives, T rows in a run.
std::vector<std::vector<real>> logits_of_rows(Module& model, const Input& in, const Module* layer,
                                              const std::vector<Row>& rows);

// For a batch of one. Throws ConfigError for a model without blocks or heads, for one
// that reads two sequences or names no token at each position, for attention that is no sum over
// its heads, for blocks that do more than add to the stream, and for a last block that is followed
// by something else than a norm and a Linear layer.
Attribution attribute(Module& model, const Input& in, const Measure& measure);

}  // namespace heed::probe
