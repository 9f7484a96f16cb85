// What a model that puts sequences into classes is given, as a classifier:
//   ids (B, T)      <class>, if there is such a token, and the sequence, then padding (hidden by
//                   the mask)
//   targets (B)     the class
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "train/data/task.h"

namespace heed {

class LabelFormat {
 public:
  explicit LabelFormat(std::optional<int32_t> class_token) : class_token_(class_token) {}

  // A batch of empty sequences with room for `length` tokens each, without <class>.
  Batch blank(int64_t count, int64_t length) const;
  // Writes sequence i of a batch.
  void fill(Batch& batch, int64_t i, std::span<const int32_t> sequence, int32_t label) const;

  // The class that a model gives to a sequence, and its probability.
  struct Prediction {
    int32_t label = 0;
    double probability = 0;
    Input shown;
    // "positive 99.8%"
    std::string text(const std::string& name) const;
  };
  Prediction classify(Module& model, std::vector<int32_t> sequence) const;

 private:
  // In front of each sequence.
  int64_t marks() const { return class_token_ ? 1 : 0; }

  std::optional<int32_t> class_token_;
};

}  // namespace heed
