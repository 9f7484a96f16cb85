// What to give a layer of which nothing is known but its type and options: for the gradient check
// of any layer, built in or from outside, and for `heed inspect`.
#pragma once

#include <optional>

#include "layers/module/module.h"

namespace heed {

// Whether the layer looks at masks: then it refuses one of a shape that no mask has. `in` is an
// input that it takes. Nothing is computed.
bool takes_mask(Module& layer, const Input& in);

// The mask that a layer may be given: over source_ids where it reads from them.
Mask Input::*mask_member(const Module& layer);

struct InputSizes {
  Module::Takes takes = Module::Takes::x;
  int64_t width = 0;                           // of x; 0 for ids
  int64_t vocab_size = 0;                      // of ids; 0 for x
  std::optional<int64_t> context_length = {};  // the most tokens that it takes, if there is a limit

  // Where the layer takes a context:
  bool takes_context = false;
  int64_t context_width = 0;                  // of context
  int64_t source_vocab_size = 0;              // of source_ids
  std::optional<int64_t> source_length = {};  // the most tokens that source_ids may have
};

// Found by trying: the width is d_in or d_model of the options, of nested layers too, or the first
// other whole number among them with which the layer works; that of a context is d_context, or the
// same. `options` are complete (defaults included). Throws ShapeError when there is no such number.
// With a `width` nothing is tried.
InputSizes input_sizes(Module& layer, const ConfigNode& options, int64_t width = 0);

// An input without a mask and without numbers, for a dry run: (batch, tokens), or (tokens) with a
// batch of 0. A context or source has `source_tokens`.
Input blank_input(const InputSizes& sizes, int64_t batch, int64_t tokens, int64_t source_tokens);

// `options` of a layer of this type with all defaults. Throws ConfigError.
ConfigNode complete_options(const LayerSpec& spec);

}  // namespace heed
