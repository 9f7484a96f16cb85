#include "layers/wings/classes/classifier.h"

namespace heed {

void Classifier::Config::fields(Fields& f) {
  vocab_size_field(f);
  f.required("num_classes", num_classes, at_least(1),
             "number of classes; the data decides if absent")
      .example(3);
  block_fields(f);
  parallel_residual_field(f);
  num_layers_field(f, 0).example(1);
  position_field(f, {"learned", "sinusoidal", "none"});
  f.choice("pool", pool, {"mean", "first", "last"}, "what of the sequence is classified");
  attention_field(f, [](Defaults& d) { d.set("causal", false); });
}

Classifier::Classifier(const Config& c)
    : ClassifyingBody(checked(c)),
      config(c),
      out_head(this, "out_head",
               Linear::Config{.d_in = c.d_model, .d_out = c.num_classes, .bias = c.bias}) {}

Tensor Classifier::forward(const Input& in) {
  return classes("classifier", in, config.pool, out_head);
}

}  // namespace heed
