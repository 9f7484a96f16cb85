// What a layer is given, and the checks that layers make of it.
#pragma once

#include "autograd/graph/tensor.h"

namespace heed {

class KeyValueCache;

// What a layer is given. Which parts it uses is up to the layer; most use x.
struct Input {
  Input() = default;
  Input(Tensor values, Mask may_attend = {})  // NOLINT: layer(x) and layer({x, mask})
      : x(std::move(values)), mask(std::move(may_attend)) {}
  Input(Ids tokens, Mask may_attend = {})  // NOLINT: layer(ids)
      : ids(std::move(tokens)), mask(std::move(may_attend)) {}

  // The same surroundings around other values: how a layer calls its children.
  Input with(Tensor values) const {
    Input in = *this;
    in.x = std::move(values);
    return in;
  }

  // How many tokens came before these, out of the cache.
  int64_t past() const;

  Tensor x;   // (B, T, d)
  Ids ids;    // (B, T), in [0, V)
  Mask mask;  // (B, S) over the keys or (B, 1, T, S); 1 = may attend; none: everything
  KeyValueCache* cache = nullptr;  // of the tokens before these; none: there are none

  // A second sequence, for layers that read from one (see Module::takes_context).
  Tensor context;    // (B, S, d), beside x; `mask` is over it
  Ids source_ids;    // (B, S), beside ids
  Mask source_mask;  // (B, S) over source_ids; 1 = a token, 0 = padding; none: all are tokens
};

// x (T, d) as a batch of one: (1, T, d). Throws ShapeError unless x is (B, T, d_in) or (T, d_in).
Tensor with_batch(const char* layer, const Tensor& x, int64_t d_in);
// y (1, T, d) without its batch again when x had none.
Tensor without_batch(const Tensor& y, const Tensor& x);

// Throws ShapeError when x (.., T, d) and the tokens before it are more than context_length.
void require_context(const char* layer, const Input& in, int64_t context_length);

}  // namespace heed
