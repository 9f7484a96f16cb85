// What models share that put a whole sequence into a class.
#pragma once

#include "layers/gpt.h"

namespace heed {

class ClassifyingBody : public TransformerBody {
 protected:
  using TransformerBody::TransformerBody;

  // ids (B, T) -> logits (B, num_classes), (T) -> (num_classes): out_head of one state for the
  // whole sequence (masked_mean.h). A mask (B, T) hides padding, also from pooling; a mask
  // (B, 1, T, T) restricts attention alone.
  Tensor classes(const char* layer, const Input& in, const std::string& pool,
                 Child<Linear>& out_head);
};

// Of ids alone. C: the config of the body with num_classes and pool.
template <class C>
class SequenceClassifier : public ClassifyingBody {
 public:
  using Config = C;

  Signature signature() const override {
    return {.ids = true,
            .vocab_size = config.vocab_size,
            .longest = config.context_length,
            .mask = true};
  }

  const Config config;
  Child<Linear> out_head;

 protected:
  SequenceClassifier(const char* layer, const Config& c, bool bias)
      : ClassifyingBody(checked(c)),
        config(c),
        out_head(this, "out_head",
                 Linear::Config{.d_in = c.d_model, .d_out = c.num_classes, .bias = bias}),
        layer_(layer) {}

  Tensor forward(const Input& in) override { return classes(layer_, in, config.pool, out_head); }

 private:
  const char* const layer_;
};

}  // namespace heed
