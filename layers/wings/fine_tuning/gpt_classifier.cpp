#include "layers/wings/fine_tuning/gpt_classifier.h"

namespace heed {

void GptClassifier::Config::fields(Fields& f) {
  size_fields(f);
  f.required("num_classes", num_classes, at_least(1),
             "number of classes; the data decides if absent")
      .example(3);
  position_field(f, {"learned", "sinusoidal", "rope", "none"});
  f.choice("pool", pool, {"last", "mean", "first"}, "what of the text is classified");
  attention_fields(f);
}

GptClassifier::GptClassifier(const Config& c)
    : ClassifyingBody(checked(c)),
      config(c),
      out_head(this, "out_head", Linear::Config{.d_in = c.d_model, .d_out = c.num_classes}) {}

Tensor GptClassifier::forward(const Input& in) {
  return classes("gpt_classifier", in, config.pool, out_head);
}

}  // namespace heed
