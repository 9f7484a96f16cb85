// How much a model loses without each of its parts: each head, each attention, each feed-forward.
//   zero   the part adds nothing: z of a head, or the output of attention or feed-forward, is 0
//   mean   it always adds the same: its mean over all positions that the examples' masks show
// A head is taken out before out_proj, whose bias stays.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/data/task.h"

namespace heed::probe {

enum class Ablation { zero, mean };

struct Ablated {
  std::string part;             // path of an attention or feed-forward: "trf_blocks.0.att"
  std::optional<int64_t> head;  // from 0; none: all of the part
  double loss = 0;
  std::optional<double> accuracy;  // none for targets that are no classes
};

struct Ablations {
  double loss = 0;  // of the whole model
  std::optional<double> accuracy;
  std::vector<Ablated> parts;  // the one whose absence costs most first
};

// On `batches` times `batch_size` validation examples, or all of them, as evaluate() takes them.
// Attention that offers no heads is taken out as a whole only. Throws ConfigError for a model
// without blocks, or data without validation examples.
Ablations ablate(Module& model, const Task& task, Ablation what, int64_t batch_size,
                 std::optional<int64_t> batches);

}  // namespace heed::probe
