// What to give a layer of which nothing is known but its type and options: for the gradient check
// of any layer, built in or from outside, and for `heed inspect`.
#pragma once

#include <optional>

#include "layers/module.h"

namespace heed {

// Whether the layer looks at masks: then it refuses one of a shape that no mask has. `in` is an
// input that it takes. Nothing is computed.
bool takes_mask(Module& layer, const Input& in);

struct InputSizes {
  Module::Takes takes = Module::Takes::x;
  int64_t width = 0;                           // of x; 0 for ids
  int64_t vocab_size = 0;                      // of ids; 0 for x
  std::optional<int64_t> context_length = {};  // the most tokens that it takes, if there is a limit
};

// Found by trying: the width is d_in or d_model of the options, of nested layers too, or the first
// other whole number among them with which the layer works. `options` are complete (defaults
// included). Throws ShapeError when there is no such number.
InputSizes input_sizes(Module& layer, const ConfigNode& options);

// `options` of a layer of this type with all defaults. Throws ConfigError.
ConfigNode complete_options(const LayerSpec& spec);

}  // namespace heed
