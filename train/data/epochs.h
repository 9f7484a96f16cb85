// The order in which training examples come: epoch after epoch, as torch.utils.data.DataLoader
// gives them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "autograd/random/generator.h"

namespace heed {

class Epochs {
 public:
  // Of examples 0 to count - 1: in a new order every epoch (shuffle), or in theirs.
  Epochs(int64_t count, bool shuffle) : count_(count), shuffle_(shuffle) {}

  // The numbers of the next batch. Throws ShapeError for more than `count`. What an epoch has left
  // below one batch is dropped (drop_last). The numbers drawn are those of DataLoader.
  void next(std::span<int64_t> out, Generator& data);

  // {} before the first epoch, else {seed of the epoch's order, examples used so far}.
  std::vector<int64_t> position() const;
  // Throws IoError for a position that is none of these.
  void set_position(const std::vector<int64_t>& position);

 private:
  void begin(Generator& data);
  void order(int64_t seed);

  int64_t count_;
  bool shuffle_;
  bool begun_ = false;
  int64_t seed_ = 0;
  int64_t used_ = 0;            // examples of this epoch used so far
  std::vector<int64_t> order_;  // of this epoch, if shuffled
};

}  // namespace heed
