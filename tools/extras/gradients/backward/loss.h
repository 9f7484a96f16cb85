// The numbers whose gradients are asked for, of one row of a model's logits (rows, V).
#pragma once

#include "tools/extras/gradients/backward/recording.h"

namespace heed::gradients {

// A row of logits, and the column that it should choose: a token or a class.
struct Target {
  int64_t row = 0;
  int32_t column = 0;
};
// The answer at the last position, or for the whole sequence.
Target last_target(const Array& logits, int32_t column);

// p, the softmax of a row.
std::vector<double> probabilities(const Array& logits, int64_t row);
// -ln p_target, the cross-entropy, and p_target.
struct Loss {
  double loss = 0, probability = 0;
};
Loss loss_of(const Array& logits, const Target& target);
// Its cotangent: p, less 1 in the target's column; 0 in other rows.
Array loss_cotangent(const Array& logits, const Target& target);
// That of Measure::operator(): 1 for the answer, -1 for the wrong one, at the last position.
Array measure_cotangent(const Array& logits, const probe::Measure& measure);

}  // namespace heed::gradients
