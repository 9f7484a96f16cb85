// Losses that layers add to that of the task in training, such as one that spreads tokens evenly
// over experts. A layer adds one in its forward(): add_loss("load_balancing", loss). Training
// differentiates the sum, and shows each loss by its name; the validation loss stays the task's.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "autograd/ops/arithmetic.h"

namespace heed {

// While one is alive, it collects what layers of its thread add. train_step() has one for each
// micro-batch. Otherwise, and so in evaluation, nothing is collected.
class AddedLosses {
 public:
  AddedLosses() : before_(std::exchange(current_, this)) {}
  ~AddedLosses() { current_ = before_; }
  AddedLosses(const AddedLosses&) = delete;
  AddedLosses& operator=(const AddedLosses&) = delete;

  std::map<std::string, Tensor> by_name;  // of shape (), each the sum over all layers that add it

 private:
  friend void add_loss(const std::string& name, const Tensor& loss);
  HEED_ONE_PER_THREAD static inline thread_local AddedLosses* current_ = nullptr;
  AddedLosses* before_;
};

// loss: a mean, such as one over tokens, of shape (), and what it counts for is in it already. The
// name is a column of metrics.csv: letters, digits and _.
inline void add_loss(const std::string& name, const Tensor& loss) {
  require<Error>(!name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
                                      std::string::npos,
                 "add_loss: expected a name of a-z, 0-9 and _, got ", name);
  require(loss.rank() == 0, "add_loss: expected a loss ", name, " of shape (), got ", loss.shape());
  if (AddedLosses* const to = AddedLosses::current_) {
    const auto [at, is_first] = to->by_name.try_emplace(name, loss);
    if (!is_first) at->second = at->second + loss;
  }
}

}  // namespace heed
