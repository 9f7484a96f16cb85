#include "tools/extras/fine_tuning/layers/gpt_classifier.h"

namespace heed {

void GptClassifierConfig::fields(Fields& f) {
  size_fields(f);
  f.required("num_classes", num_classes, at_least(1),
             "number of classes; needed where no data gives it")
      .example(3);
  position_field(f, {"learned", "sinusoidal", "rope", "none"});
  f.choice("pool", pool, {"last", "mean", "first"}, "what of the text is classified");
  attention_fields(f);
}

}  // namespace heed
