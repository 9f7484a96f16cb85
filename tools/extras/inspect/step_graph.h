// The graph recorded by a training step: each operation with its layer and output shape.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "train/config/run_config.h"

namespace heed {

struct StepGraph {
  struct Operation {
    std::string name;   // "linear"; for a parameter its name in the layer
    std::string layer;  // path; "" outside layers
    Shape shape;        // of the output
    bool parameter = false;
  };
  std::vector<Operation> operations;              // in execution order; the result is last
  std::vector<std::pair<size_t, size_t>> inputs;  // (from, to), indices into operations
  std::string input;                              // "ids (16, 64)"
};

// Records a forward pass and the loss in a dry run: nothing is computed or changed. A config
// without data has no loss, so the graph ends with the model's output. The backward pass traverses
// the same graph in reverse.
StepGraph step_graph(const LoadedRun& run);

}  // namespace heed
