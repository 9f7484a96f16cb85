#include "train/data/epochs.h"

#include "autograd/base/error.h"
#include "autograd/random/fills.h"

namespace heed {

void Epochs::next(std::span<int64_t> out, Generator& data) {
  require(std::ssize(out) <= count_, "Epochs: expected a batch of at most ", count_,
          " examples, got ", out.size());
  if (!begun_ || count_ - used_ < static_cast<int64_t>(out.size())) {
    begin(data);
  }
  for (int64_t& example : out) {
    example = shuffle_ ? order_[static_cast<size_t>(used_)] : used_;
    ++used_;
  }
}

void Epochs::begin(Generator& data) {
  begun_ = true;
  used_ = 0;
  if (shuffle_) {
    order(data_loader_seed(data));
  } else {
    data_loader_unshuffled(data);
  }
}

void Epochs::order(int64_t seed) {
  seed_ = seed;
  order_ = data_loader_order(seed, count_);
}

std::vector<int64_t> Epochs::position() const {
  if (!begun_) {
    return {};
  }
  return {seed_, used_};
}

void Epochs::set_position(const std::vector<int64_t>& position) {
  if (position.empty()) {
    begun_ = false;
    return;
  }
  require<IoError>(
      position.size() == 2 && position[0] >= 0 && position[1] >= 0 && position[1] <= count_,
      "data: expected a position in an epoch of ", count_, " examples, got ", position.size(),
      " numbers", position.size() == 2 ? text(": ", position[0], " and ", position[1]) : "");
  const bool ordered = begun_ && seed_ == position[0];
  begun_ = true;
  used_ = position[1];
  if (shuffle_ && !ordered) {
    order(position[0]);
  }
}

}  // namespace heed
