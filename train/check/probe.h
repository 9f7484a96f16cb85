// Finds out what input a layer takes, given only its type and options. Used by the gradient check
// of any layer, built in or from outside, and by `heed inspect`.
#pragma once

#include <optional>

#include "layers/module/module.h"

namespace heed {

// True if the layer uses masks. Tested in a dry run: such a layer throws ShapeError for a mask of
// an impossible shape. `in` is an input that the layer accepts.
bool takes_mask(Module& layer, const Input& in);

// The member of Input for this layer's mask: source_mask if it reads source_ids, otherwise mask.
Mask Input::*mask_member(const Module& layer);

struct InputSizes {
  Module::Takes takes = Module::Takes::x;
  int64_t width = 0;                           // of x; 0 for ids
  int64_t vocab_size = 0;                      // of ids; 0 for x
  std::optional<int64_t> context_length = {};  // largest number of tokens, if there is a limit

  // If the layer takes a second sequence:
  bool takes_context = false;
  int64_t context_width = 0;                  // of context
  int64_t source_vocab_size = 0;              // of source_ids
  std::optional<int64_t> source_length = {};  // largest number of tokens of source_ids
};

// Returns the sizes of a layer's input. The width of x is found by trial, unless `width` is given:
// the first whole number in the options with which the layer runs. Those called d_in or d_model
// come first, and options of nested layers count too. The width of a context is d_context, or that
// of x. `options` must be complete (defaults included). Throws ShapeError if no number works.
InputSizes input_sizes(Module& layer, const ConfigNode& options, int64_t width = 0);

// An uninitialised input without a mask, for a dry run: (batch, tokens), or (tokens) if batch is 0.
// A context or source has `source_tokens` tokens.
Input blank_input(const InputSizes& sizes, int64_t batch, int64_t tokens, int64_t source_tokens);

// The choice with a config, and that config as a map. Throws ConfigError.
LayerChoice completed(const LayerChoice& choice);
ConfigNode write_options(const LayerChoice& choice);

}  // namespace heed
