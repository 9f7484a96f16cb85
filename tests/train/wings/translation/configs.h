// Small models of two sequences.
#pragma once

namespace heed::testing {

// Trained in no time.
inline const char* const copying =
    "data: {type: copy, length: 5, min_length: 3, symbols: 12}\n"
    "model: {type: encoder_decoder, d_model: 8, num_heads: 2, num_layers: 1}\n"
    "train: {steps: 2, batch_size: 4}\nsample: {every: 1, prompt: \"11 2 3\"}\n";

// Its end is open: more fields of the model may follow, then a brace.
inline const char* const translating =
    "data: {type: copy, length: 6, min_length: 3, symbols: 9}\n"
    "sample: {prompt: \"7 0 3\"}\n"
    "model: {type: encoder_decoder, d_model: 8, num_heads: 2, num_layers: 2";

}  // namespace heed::testing
