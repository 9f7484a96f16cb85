// What a model is made of, found by walking through it in a dry run: nothing is allocated, so a
// model of any size is looked at in an instant.
#pragma once

#include <string>
#include <vector>

#include "layers/module/module.h"

namespace heed {

struct LayerNode {
  struct OwnParameter {
    std::string name;
    Shape shape;
    bool tied = false;  // also stands elsewhere, where it is counted
  };

  std::string name;        // "trf_blocks.0" within its parent, "" for the model
  std::string type;        // as registered; "" when its class never was
  Shape output;            // of its last call
  int64_t calls = 0;       // 0: it was not used
  int64_t parameters = 0;  // its children's included, a tied one once
  int64_t flops = 0;       // forward, its children's included, all calls together
  std::vector<OwnParameter> own;
  std::vector<LayerNode> children;
};

struct ModelTree {
  LayerNode root;
  std::string input;   // "ids (12, 64)"
  int64_t tokens = 0;  // of that input
  int64_t weight_bytes = 0;
  int64_t activation_bytes = 0;  // a forward pass without a graph, at its worst moment
};

// Runs the layer on `batch` sequences of `tokens` (0: its context_length, or 1 without a limit).
// Throws ShapeError, ConfigError.
ModelTree layer_tree(const LayerSpec& spec, int64_t batch, int64_t tokens = 0);

}  // namespace heed
