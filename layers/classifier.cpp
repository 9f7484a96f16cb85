#include "layers/classifier.h"

#include "layers/module/masked_mean.h"

namespace heed {

void Classifier::Config::fields(Fields& f) {
  vocab_size_field(f);
  f.required("num_classes", num_classes, at_least(1),
             "number of classes; the data decides if absent")
      .example(3);
  block_fields(f);
  num_layers_field(f, 0).example(1);
  f.choice("position", position, {"learned", "sinusoidal", "none"}, "how positions are told apart");
  f.choice("pool", pool, {"mean", "first", "last"}, "what of the sequence is classified");
  attention_field(f, [](Defaults& d) { d.set("causal", false); });
}

void Classifier::Config::check(ConfigErrors& errors, const ConfigNode& at) const {
  BlockConfig::check(errors, at);
  check_heads(errors, at);
}

Classifier::Classifier(const Config& c)
    : TransformerBody(checked(c)),
      config(c),
      out_head(this, "out_head",
               Linear::Config{.d_in = c.d_model, .d_out = c.num_classes, .bias = c.bias}) {}

Tensor Classifier::forward(const Input& in) {
  require_ids("classifier", in);
  require(in.ids.dim(-1) > 0, "classifier: expected a token or more, got ", in.ids.shape());
  const bool single = in.ids.rank() == 1;
  const Shape whole{single ? 1 : in.ids.dim(0), in.ids.dim(-1)};
  require(!in.mask || in.mask.rank() == 4 || in.mask.shape() == whole,
          "classifier: expected a mask (B, T) = ", whole, " or (B, 1, T, T), got ",
          in.mask.shape());
  Input batched = in;
  if (single) batched.ids = in.ids.reshaped(whole);
  const Tensor x = states("classifier", batched);
  const Mask keep = in.mask.rank() == 4 ? Mask() : in.mask;
  const Tensor logits = out_head(pooled("classifier", config.pool, x, keep));  // (B, 1, classes)
  return reshape(logits, single ? Shape{config.num_classes} : Shape{x.dim(0), config.num_classes});
}

}  // namespace heed
