#include "train/data/label_format.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "layers/module/evaluation_mode.h"
#include "train/data/generate.h"

namespace heed {

Batch LabelFormat::blank(int64_t count, int64_t length) const {
  const Shape shape{count, length + marks()};
  return {Input(Ids::full(shape, class_token_.value_or(0)), Mask::zeros(shape)),
          Ids::zeros({count})};
}

void LabelFormat::fill(Batch& batch, int64_t i, std::span<const int32_t> sequence,
                       int32_t label) const {
  const int64_t row = i * batch.input.ids.dim(1);
  std::copy(sequence.begin(), sequence.end(), batch.input.ids.mutable_data() + row + marks());
  std::fill_n(batch.input.mask.mutable_data() + row, std::ssize(sequence) + marks(), uint8_t{1});
  batch.targets.mutable_data()[i] = label;
}

LabelFormat::Prediction LabelFormat::classify(Module& model, std::vector<int32_t> sequence) const {
  const EvaluationMode evaluating(model);
  if (class_token_) sequence.insert(sequence.begin(), *class_token_);
  Input shown(Ids::from({1, static_cast<int64_t>(sequence.size())}, sequence));
  const Array logits = model(shown).value();  // (1, classes)
  const int32_t label = likeliest(logits.span());
  double sum = 0;
  for (const real logit : logits.span()) {
    sum += std::exp(static_cast<double>(logit - logits.data()[label]));
  }
  return {label, 1 / sum, std::move(shown)};
}

std::string LabelFormat::Prediction::text(const std::string& name) const {
  char percent[16];
  std::snprintf(percent, sizeof percent, " %.1f%%", 100 * probability);
  return name + percent;
}

}  // namespace heed
