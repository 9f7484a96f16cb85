// The loss of one example, measured where its gradient makes a prediction: after steps of plain SGD
// of growing length, and on both sides of single weights.
#pragma once

#include <string>
#include <vector>

#include "tools/extras/gradients/backward/loss.h"

namespace heed::gradients {

// w -= lr dL/dw, for every trained parameter, from the same weights each time. The straight line is
// L(lr) = L - lr |dL/dw|^2.
struct Rate {
  double lr = 0, loss = 0;
  int32_t likeliest = 0;   // column of the target's row after the step
  double probability = 0;  // its softmax
};
// (k / count)^2 lr for k = 0 ... count, as far as the loss is finite.
std::vector<Rate> try_rates(Module& model, const Input& in, const Target& target, double lr,
                            int64_t count);
// |dL/dw|^2 over all trained parameters.
double slope_of(const Module& model);

// An element of a parameter: dL/dw, and the central difference of L.
struct Slope {
  std::string name;
  int64_t at = 0;  // within the parameter, row by row
  double gradient = 0, difference = 0;
};
// At least `count` elements, the same number of each parameter: its largest gradient, the others
// drawn by chance; all of a parameter that has fewer.
std::vector<Slope> measure_slopes(Module& model, const Input& in, const Target& target,
                                  int64_t count);

// All need the gradients of L in the model, as record() leaves them, and leave the weights as they
// are.

}  // namespace heed::gradients
