// The graph that one training step records: every operation with its layer and the shape it makes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "train/config/run_config.h"

namespace heed {

struct StepGraph {
  struct Operation {
    std::string name;   // "linear"; of a parameter its name in the layer
    std::string layer;  // path, "" outside of layers
    Shape shape;        // of what it makes
    bool parameter = false;
  };
  std::vector<Operation> operations;              // in the order in which they run; the result last
  std::vector<std::pair<size_t, size_t>> inputs;  // (from, to), indices into operations
  std::string input;                              // "ids (16, 64)"
};

// Records a forward pass and the loss in a dry run: nothing is computed, nothing is changed. A
// config without data has no loss: the graph ends with the model's output. The backward pass runs
// the same graph the other way.
StepGraph step_graph(const LoadedRun& run);

}  // namespace heed
