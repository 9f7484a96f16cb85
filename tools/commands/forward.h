// Runs one layer or model on given tensors: what `heed forward` does. Tensors come from and go to
// safetensors files.
//   in   x (float) or ids (integers), whichever the layer takes; mask where it attends; context
//        beside x, source_ids and perhaps source_mask beside ids, where it reads from a second
//        sequence; dy, the cotangent of y (ones if absent)
//   out  y; after a backward pass grad.x, grad.context and grad.<path> of every parameter (zeros
//        where none came)
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "layers/module/module.h"

namespace heed {

struct ForwardJob {
  std::filesystem::path in;
  std::filesystem::path out;
  std::optional<std::filesystem::path> weights;       // else the initial ones
  std::optional<std::filesystem::path> save_weights;  // written before `out`
  bool ignore_extra = false;                          // weights may hold more than is needed
  bool book_buffers = false;                          // save the book's mask buffers too
  bool backward = false;
  bool train = false;  // dropout on
};

// Returns what it wrote into `out`, in words, one tensor a line. Parameters and dropout are drawn
// from the current streams. Throws IoError for files that are not what they should be,
// ShapeError for tensors that the layer cannot take, ConfigError when memory does not suffice;
// then `out` is as it was.
std::vector<std::string> run_forward(const LayerSpec& spec, const ForwardJob& job);

}  // namespace heed
