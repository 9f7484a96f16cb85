// The steps of an attention layer: Q, K, V, scores, scaling, mask, softmax, mix of the values,
// heads side by side, out_proj.
#pragma once

#include <string>

#include "tools/extras/explain/walk.h"

namespace heed::explain {

// Takes apart layers that project their input by W_query, W_key and W_value, Linear layers or
// matrices of these names, or by one in_proj_weight; heads that are layers of their own
// (multi_head_attention_wrapper); and layers without parameters, whose input is queries, keys and
// values as it is. The layer tells the rest: its signature if it is causal, its fields `scale`
// (1 / sqrt(head width) if there is none), `rope`, `rotary_fraction` and `rope_scaling`. Of a layer
// that has used other weights than follow from all that (window, soft_cap, alibi, qk_norm,
// attention_weights), only they and its output are shown.
// context: the id of what it reads besides x, or "". Returns the id of the last step.
std::string attention_steps(Walk& walk, const Module& layer, const LayerChoice& choice,
                            const std::string& x, const std::string& context);

}  // namespace heed::explain
