#include "train/optim/weight_decay.h"

#include "autograd/base/error.h"

namespace heed {

bool decays(const std::string& rule, const Tensor& parameter) {
  return rule == "all" || parameter.rank() >= 2;
}

std::string decay_warning(const std::string& rule, double weight_decay, double lr) {
  if (weight_decay == 0 && rule != "matrices") {
    return text("optimizer.decay is ", rule, ", but optimizer.weight_decay is 0: nothing decays");
  }
  if (lr * weight_decay >= 1) {
    return text("optimizer.lr is ", lr, ", weight_decay ", weight_decay,
                ": each step multiplies weights by 1 - lr weight_decay = ", 1 - lr * weight_decay,
                ", where weight decay is to make them a little smaller");
  }
  return "";
}

}  // namespace heed
