// Puts whole texts into classes with the body of a gpt. The book, section 6.5.
//   ids (B, T <= context_length) -> logits (B, num_classes);  (T) -> (num_classes)
//   mask (B, T): 0 where a token is padding, which may follow a text or precede it
//   logits = out_head(pooled states),  states as in gpt (layers/gpt.h)
// pool: last    the state of the last token that is no padding: causal attention lets it alone see
//               the whole text
//       mean    the mean of the states over the tokens that the mask keeps
//       first   the state of the first of them: with causal attention it sees nothing else
// All parameters but out_head have the names and shapes of a gpt's, so `heed train --weights` of a
// gpt fits with weights_ignore: ["out_head.*"].
#pragma once

#include "train/extras/sequence_models/layers/classifying_body.h"

namespace heed {

struct GptClassifierConfig : GptBodyConfig {
  int64_t num_classes = 0;
  std::string pool = "last";
  void fields(Fields& f);
};

class GptClassifier final : public SequenceClassifier<GptClassifierConfig> {
 public:
  static constexpr const char* help = "the body of a gpt and a class for the whole text";

  explicit GptClassifier(const Config& c)
      : SequenceClassifier("gpt_classifier", c, /*bias=*/true) {}
};
HEED_LAYER(GptClassifier, "gpt_classifier");

}  // namespace heed
