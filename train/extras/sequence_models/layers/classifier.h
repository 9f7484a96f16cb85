// Classifies whole sequences: transformer blocks without a causal mask, pooling to one vector,
// logits.
//   ids (B, T <= context_length) -> logits (B, num_classes);  (T) -> (num_classes)
//   mask (B, T): 0 where a token is padding. A mask (B, 1, T, T) restricts attention only, not
//   pooling.
// pool, over the tokens that the mask keeps:
//       mean    the mean of their final states
//       first   the final state of the first token, as BERT's [CLS] (Devlin et al. 2018)
//       last    that of the last token
// With num_layers 0, position none and pool mean this is a bag of words: a baseline that ignores
// the order of the tokens.
#pragma once

#include "train/extras/sequence_models/layers/classifying_body.h"

namespace heed {

struct ClassifierConfig : TransformerBody::Config {
  ClassifierConfig() { num_heads = 1; }
  int64_t num_classes = 0;
  std::string pool = "mean";
  void fields(Fields& f);
};

class Classifier final : public SequenceClassifier<ClassifierConfig> {
 public:
  static constexpr const char* help = "transformer blocks and a class for the whole sequence";

  explicit Classifier(const Config& c) : SequenceClassifier("classifier", c, c.bias) {}
};
HEED_LAYER(Classifier, "classifier");

}  // namespace heed
