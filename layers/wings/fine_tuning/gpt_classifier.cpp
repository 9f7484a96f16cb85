#include "layers/wings/fine_tuning/gpt_classifier.h"

#include "layers/module/masked_mean.h"

namespace heed {

void GptClassifier::Config::fields(Fields& f) {
  size_fields(f);
  f.required("num_classes", num_classes, at_least(1),
             "number of classes; the data decides if absent")
      .example(3);
  position_field(f);
  f.choice("pool", pool, {"last", "mean", "first"}, "what of the text is classified");
  attention_fields(f);
}

GptClassifier::GptClassifier(const Config& c)
    : TransformerBody(checked(c)),
      config(c),
      out_head(this, "out_head", Linear::Config{.d_in = c.d_model, .d_out = c.num_classes}) {}

Tensor GptClassifier::forward(const Input& in) {
  require_ids("gpt_classifier", in);
  require(in.ids.dim(-1) > 0, "gpt_classifier: expected a token or more, got ", in.ids.shape());
  const bool single = in.ids.rank() == 1;
  const Shape whole{single ? 1 : in.ids.dim(0), in.ids.dim(-1)};
  require(!in.mask || in.mask.shape() == whole, "gpt_classifier: expected a mask (B, T) = ", whole,
          ", got ", in.mask.shape());
  Input batched = in;
  if (single) batched.ids = in.ids.reshaped(whole);
  const Tensor x = states("gpt_classifier", batched);  // (B, T, d_model)
  const Tensor logits = out_head(pooled("gpt_classifier", config.pool, x, in.mask));
  return reshape(logits, single ? Shape{config.num_classes} : Shape{x.dim(0), config.num_classes});
}

}  // namespace heed
