// What a model that reads one sequence and writes another is given, as an encoder_decoder:
//   source_ids (B, S)  the source and <end>, then padding (hidden by source_mask)
//   ids (B, T)         <start> and the target (teacher forcing)
//   targets (B, T)     the target and <end>, then ignored_target
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "train/data/task.h"

namespace heed {

// How long sequences are, in tokens without <start> and <end>.
struct PairSizes {
  int64_t source = 0;
  int64_t target = 0;
};

class PairFormat {
 public:
  // The ids of the tokens that are put around sequences.
  struct Marks {
    int32_t source_end = 0;
    int32_t start = 0;
    int32_t end = 0;
  };
  // longest: that a model has to read and to write.
  PairFormat(const Marks& marks, const PairSizes& longest) : marks_(marks), longest_(longest) {}

  const PairSizes& longest() const { return longest_; }
  // A batch of empty pairs with room for sequences of these sizes.
  Batch blank(int64_t count, const PairSizes& room) const;
  // Writes pair i of a batch.
  void fill(Batch& batch, int64_t i, std::span<const int32_t> source,
            std::span<const int32_t> target) const;

  // What a model makes of a source, by greedy decoding until <end>.
  struct Decoded {
    std::vector<int32_t> target;  // without <start> and <end>
    Input shown;                  // the model's last input
  };
  Decoded write(Module& model, std::vector<int32_t> source,
                const std::function<bool()>& stop = {}) const;

 private:
  Marks marks_;
  PairSizes longest_;
};

}  // namespace heed
