#include "train/extras/sequence_models/layers/classifier.h"

namespace heed {

void ClassifierConfig::fields(Fields& f) {
  vocab_size_field(f);
  f.required("num_classes", num_classes, at_least(1),
             "number of classes; needed where no data gives it")
      .example(3);
  block_fields(f);
  parallel_residual_field(f);
  num_layers_field(f, 0).example(1);
  position_field(f, {"learned", "sinusoidal", "none"});
  f.choice("pool", pool, {"mean", "first", "last"}, "what of the sequence is classified");
  attention_field(f, [](Defaults& d) { d.set("causal", false); });
}

}  // namespace heed
