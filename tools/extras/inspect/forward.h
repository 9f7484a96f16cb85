// Runs one layer or model on given tensors, for `heed forward`. Input and output are safetensors
// files:
//   in   x (floats) or ids (integers), whichever the layer takes; mask (attention layers);
//        context (with x) or source_ids and optionally source_mask (with ids), for layers that read
//        a second sequence; dy, the cotangent of y (default: ones)
//   out  y; after a backward pass also grad.x, grad.context and grad.<path> of every parameter
//        (zeros if it received no gradient)
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "layers/module/module.h"

namespace heed {

struct ForwardJob {
  std::filesystem::path in;
  std::filesystem::path out;
  std::optional<std::filesystem::path> weights;       // default: the initial ones
  std::function<void(Module&)> on_loaded = {};        // what else a run does with them
  std::shared_ptr<Module> trained = {};               // a layer of the same config that has them
  std::optional<std::filesystem::path> save_weights;  // written before `out`
  bool ignore_extra = false;                          // accept unused tensors in `weights`
  bool book_buffers = false;                          // also save the book's mask buffers
  bool backward = false;
  bool train = false;  // enables dropout
};

// Returns a line of text per tensor written to `out`. Parameters and dropout are drawn from the
// current streams. Throws IoError for invalid files, ShapeError for tensors that the layer cannot
// take, ConfigError if memory does not suffice; `out` is then unchanged.
std::vector<std::string> run_forward(const LayerChoice& layer, const ForwardJob& job);

}  // namespace heed
