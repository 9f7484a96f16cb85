// How good a model is on a fixed set of examples. Draws from no stream and records no graph.
#pragma once

#include <optional>

#include "train/config/run_config.h"

namespace heed {

struct Evaluation {
  double loss = 0;     // mean over the counted targets
  int64_t tokens = 0;  // how many there were
  // As the task counts it. A model that writes token after token is given the right ones before
  // each: a sequence is wholly right then if and only if greedy decoding writes it.
  double accuracy = 0;                            // share of targets that are right
  double exact_match = 0;                         // share of sequences with every target right
  std::map<int64_t, Score::Sequences> by_length;  // by the number of targets
};

// `batches` batches of `batch_size` examples, evenly spaced over the split; all of it for nullopt.
// Throws ConfigError for a split without examples.
Evaluation evaluate(Module& model, const Task& task, Split split, int64_t batch_size,
                    std::optional<int64_t> batches);

}  // namespace heed
