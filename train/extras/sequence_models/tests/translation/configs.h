// Small models of two sequences.
#pragma once

namespace heed::testing {

// Its end is open: more fields of the model may follow, then a brace.
inline const char* const translating =
    "data: {type: copy, length: 6, min_length: 3, symbols: 9}\n"
    "sample: {prompt: \"7 0 3\"}\n"
    "model: {type: encoder_decoder, d_model: 8, num_heads: 2, num_layers: 2";

}  // namespace heed::testing
