// What one step of plain SGD on one example changes.
//   L        cross-entropy of the answer at the last position
//   w        -= lr dL/dw, for every parameter that is trained
// What the change of a matrix in a block writes: the difference that it makes to the output of its
// attention or feed-forward at the last position, read by the logit lens. Katz et al. 2024,
// "Backward Lens: Projecting Language Model Gradients into the Vocabulary Space".
#pragma once

#include "tools/extras/gradients/backward/loss.h"
#include "train/data/task.h"

namespace heed::gradients {

struct Change {
  std::string name;  // of the parameter
  double grad_norm = 0, update_norm = 0, weight_norm = 0;
  std::vector<int32_t> writes =
      {};  // the tokens whose logits it raises most; none outside of blocks
};

// Another example, and its loss before and after the step.
struct Other {
  std::string text;
  double before = 0, after = 0;
};

struct Lesson {
  Loss before, after;
  std::vector<Change> parameters;  // in the order of the model
  std::vector<Other> others;
};

// An example that the step is not made for: how it is called, and its loss with the model as it is.
struct Check {
  std::string text;
  std::function<double()> loss;
};
// The mean loss of a text's tokens, each from those before it; at least two.
Check check_of_text(Module& model, std::string text, const Ids& ids);
// The loss of an answer at the end of a prompt.
Check check_of_answer(Module& model, std::string text, const Input& in, int32_t answer);
// `count` validation examples, evenly spaced, or all if there are fewer.
std::vector<Check> checks_of_data(Module& model, const Task& task, int64_t count);

// The weights are those of before when this returns. Gradients are not kept, unless `keep`. Throws
// ConfigError as record(), and if a loss after the step is not finite.
Lesson teach(Module& model, const Input& in, int32_t answer, double lr,
             const std::vector<Check>& checks, bool keep = false);

}  // namespace heed::gradients
