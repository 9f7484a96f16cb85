// Input of layers, and the checks of it that layers share.
#pragma once

#include "autograd/graph/tensor.h"

namespace heed {

class Cache;

// The input of a layer. Each layer uses the members it needs; most use x.
struct Input {
  Input() = default;
  Input(Tensor values, Mask may_attend = {})  // NOLINT: layer(x) and layer({x, mask})
      : x(std::move(values)), mask(std::move(may_attend)) {}
  Input(Ids tokens, Mask may_attend = {})  // NOLINT: layer(ids)
      : ids(std::move(tokens)), mask(std::move(may_attend)) {}

  // Returns a copy with other values for x. Layers call their children with it, so that masks,
  // cache and second sequence are passed on.
  Input with(Tensor values) const {
    Input in = *this;
    in.x = std::move(values);
    return in;
  }

  // Number of earlier tokens in the cache, 0 without one: the position of the first token here.
  int64_t past() const;

  Tensor x;                // (B, T, d)
  Ids ids;                 // (B, T), in [0, V)
  Mask mask;               // (B, S) over the keys or (B, 1, T, S); 1 = may attend; none: everything
  Ids targets;             // (B, T), next to ids, for a loss in place of logits: head_loss.h
  Cache* cache = nullptr;  // what layers keep of earlier tokens; null: there are none

  // A second sequence, for layers that read one (see Signature).
  Tensor context;    // (B, S, d), used with x; `mask` is then over the context
  Mask x_mask;       // (B, T) over x, next to a context; 1 = a token, 0 = padding
  Ids source_ids;    // (B, S), used with ids
  Mask source_mask;  // (B, S) over source_ids; 1 = a token, 0 = padding; none: all are tokens
};

// How many rows the logits (rows, V) of a large vocabulary may have, to take 64 MB in float32; any
// number of a small one.
inline int64_t most_logit_rows(int64_t vocabulary) {
  return vocabulary >= 4096 ? (int64_t{1} << 24) / vocabulary : int64_t{1} << 52;
}

// Returns x as (B, T, d_in): x (T, d_in) becomes a batch of one. Throws ShapeError, naming `layer`,
// for any other shape.
Tensor with_batch(const char* layer, const Tensor& x, int64_t d_in);
// Undoes with_batch: returns y (1, T, d) as (T, d) if x has no batch axis, otherwise y.
Tensor without_batch(const Tensor& y, const Tensor& x);

// Throws ShapeError if the T tokens of x (..., T, d) and those in the cache exceed context_length;
// for a layer that is unbounded (signature.h) those of x alone.
void require_context(const char* layer, const Input& in, int64_t context_length,
                     bool unbounded = false);

}  // namespace heed
