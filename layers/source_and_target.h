// What models share that read one sequence and write another: the fields of their sizes, what they
// take, and the check of it.
#pragma once

#include "layers/block_config.h"

namespace heed {

struct SourceAndTargetConfig {
  int64_t source_vocab_size = 0;
  int64_t vocab_size = 0;
  int64_t source_length = 0;

  void source_and_target_fields(Fields& f);
  Signature source_and_target_signature(int64_t context_length) const {
    return {.ids = true,
            .vocab_size = vocab_size,
            .longest = context_length,
            .context = true,
            .source_vocab_size = source_vocab_size,
            .source_longest = source_length,
            .mask = true,
            .causal = true};
  }
};

// The ids of a layer that reads one sequence and writes another.
struct SourceAndTarget {
  Ids source_ids;  // (B, S)
  Ids ids;         // (B, T)
};

// Returns source_ids and ids as batches: (S) and (T) become batches of one. Throws ShapeError,
// naming `layer`, if one is missing, if their batches differ, if one is longer than these numbers
// of tokens, or if source_mask is not (B, S).
SourceAndTarget source_and_target(const char* layer, const Input& in, int64_t source_length,
                                  int64_t context_length);

}  // namespace heed
