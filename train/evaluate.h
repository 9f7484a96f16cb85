// Evaluation of a model on a fixed set of examples. Uses no random stream and records no graph.
#pragma once

#include <optional>

#include "train/data/task.h"

namespace heed {

// Evaluates `batches` batches of `batch_size` examples, evenly spaced over the split, or all
// examples if nullopt. Throws ConfigError for a split without examples.
Evaluation evaluate(Module& model, const Task& task, Split split, int64_t batch_size,
                    std::optional<int64_t> batches);

}  // namespace heed
