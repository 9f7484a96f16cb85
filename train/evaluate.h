// Evaluation of a model on a fixed set of examples. Uses no random stream and records no graph.
#pragma once

#include <functional>
#include <optional>

#include "train/data/task.h"
#include "train/workers.h"

namespace heed {

// `part` of `whole`; none of nothing.
inline std::optional<double> share_of(int64_t part, int64_t whole) {
  return whole > 0 ? std::optional(static_cast<double>(part) / static_cast<double>(whole))
                   : std::nullopt;
}

// Evaluates n = `batches` times `batch_size` of the split's N examples, those with the numbers
// k N / n rounded down, or all examples if `batches` is nullopt or n exceeds N. Throws ConfigError
// for a split without examples, and for validation examples without a target that counts. The
// workers share the batches; all get the same result, for any number of them.
Evaluation evaluate(Module& model, const Task& task, Split split, int64_t batch_size,
                    std::optional<int64_t> batches, Workers& workers = one_worker());

// The same for n = `count` examples, at most all. No result if stop() is true before a batch; of a
// workers, that of rank 0 counts.
std::optional<Evaluation> evaluate_examples(Module& model, const Task& task, Split split,
                                            int64_t batch_size, int64_t count,
                                            Workers& workers = one_worker(),
                                            const std::function<bool()>& stop = {});

// n of the first function.
int64_t examples_of(const Task& task, Split split, int64_t batch_size,
                    std::optional<int64_t> batches);

}  // namespace heed
