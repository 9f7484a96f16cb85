// The layers of a model with their shapes, parameters and FLOPs, found in a dry run. This takes no
// memory for numbers and computes nothing, so it is instant for a model of any size.
#pragma once

#include <string>
#include <vector>

#include "layers/module/module.h"

namespace heed {

struct LayerNode {
  struct OwnParameter {
    std::string name;
    Shape shape;
    bool tied = false;  // shares its tensor with an earlier parameter, which is the one counted
  };

  std::string name;        // "trf_blocks.0" within its parent, "" for the model
  std::string type;        // as registered; "" when its class never was
  Shape output;            // of its last call
  int64_t calls = 0;       // 0: it was not used
  int64_t parameters = 0;  // including children; a tied parameter counts once
  int64_t flops = 0;       // of all forward calls, including children
  std::vector<OwnParameter> own;
  std::vector<LayerNode> children;
};

struct ModelTree {
  LayerNode root;
  std::string input;   // "ids (12, 64)"
  int64_t tokens = 0;  // of that input
  int64_t weight_bytes = 0;
  int64_t activation_bytes = 0;  // peak of a forward pass without a graph
};

// Runs the layer on `batch` sequences of `tokens` (0: its context_length, or 1 without a limit).
// Throws ShapeError, ConfigError.
ModelTree layer_tree(const LayerChoice& choice, int64_t batch, int64_t tokens = 0);

}  // namespace heed
