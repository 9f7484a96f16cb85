// Rotary positions in a config.json: rope_parameters of transformers 5, and rope_scaling and other
// keys of earlier versions.
#pragma once

#include "layers/multi_head_attention.h"
#include "tools/extras/hugging_face/train/keys.h"

namespace heed {

// A number: `name` in rope_parameters or rope_scaling, or the key of earlier versions, if there was
// one. All of them must agree, as versions of transformers differ in which one counts.
double rope_number(Keys& keys, const std::string& older_key, const std::string& name, double usual);

// rope_scaling of our attention, absent if nothing is scaled. Refuses kinds of rotary positions
// that heed does not have.
ConfigNode read_rope_scaling(Keys& keys);

// Writes rope_parameters and, if positions are scaled, rope_scaling, which earlier versions read.
void write_rope(const MultiHeadAttention::Config& attention, ConfigNode& json);

}  // namespace heed
