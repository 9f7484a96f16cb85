// How far back gradients reach: what the loss at the last token depends on, by distance.
//   L       cross-entropy of the answer at position p
//   g_k     |d L / d x_(p - k)|, x_t the embedding of token t with its position
// Bengio et al. 1994, "Learning Long-Term Dependencies with Gradient Descent is Difficult".
#pragma once

#include "train/data/task.h"

namespace heed::gradients {

struct Reach {
  std::vector<double> gradient_norm;  // g_k, k from 0; a mean over the windows that are so long
  // Of a model of two sequences, the same for the first one, from its end.
  std::vector<double> source_gradient_norm;
  int64_t windows = 0;
};

// Of a batch of one, where the answer is a column of the logits at the last position.
Reach reach(Module& model, const Input& in, int32_t answer);
// The mean over `windows` validation examples, evenly spaced, or all if there are fewer: the loss
// is that of the last target that counts. Throws ConfigError without validation examples, for
// targets that are numbers, and as record().
Reach reach(Module& model, const Task& task, int64_t windows);

}  // namespace heed::gradients
