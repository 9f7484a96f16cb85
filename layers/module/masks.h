// Masks for layers that do not leave them to attend(): weights that are no softmax, a rule of
// their own about which keys are seen. 1 = may attend, as everywhere.
//   mask (B, S) over the keys, or (B, 1, T, S), (1, 1, T, S) over pairs of query and key; or none
// Each function throws ShapeError for another mask.
#pragma once

#include "layers/module/module.h"

namespace heed {

// weights or scores (B, T, S) with `value` where the mask does not allow query t to attend to key
// s: -infinity before a softmax, 0 after any other function.
Tensor masked_scores(const Tensor& scores, const Mask& mask, real value);

// x (B, S, d) with 0 in the tokens that a mask (B, S) hides: keys or values that are summed up.
Tensor masked_tokens(const Tensor& x, const Mask& mask);

// The same for values that weights of 0 hide anyway, if x has a NaN or an infinity, since 0 times
// either is NaN. Returns x itself if all numbers are finite, or the mask is absent or over pairs.
Tensor finite_tokens(const Tensor& x, const Mask& mask);

// For a layer that reads no mask. Throws unless the mask hides only what the layer does not see
// anyway: in a causal layer, tokens that come after all others.
void require_unseen(const Module& layer, const Mask& mask);

// Throws unless the mask has one of the shapes above.
void require_mask(const Mask& mask, int64_t batch, int64_t queries, int64_t keys);

// The mask (B, 1, T, S) of the pairs that `mask` allows and for which allowed(t, s) is true:
//   masked_where(in.mask, B, T, T, [&](int64_t t, int64_t s) { return s <= t && t - s < window; })
template <class Allowed>
Mask masked_where(const Mask& mask, int64_t batch, int64_t queries, int64_t keys,
                  Allowed&& allowed) {
  if (mask) require_mask(mask, batch, queries, keys);
  Mask joined = Mask::uninitialised({batch, 1, queries, keys});
  for (int64_t i = 0; i < joined.size() && !dry_run(); ++i) {
    const int64_t s = i % keys, t = i / keys % queries, b = i / keys / queries;
    const int64_t at = !mask ? 0 : mask.rank() == 2 ? b * keys + s : i % mask.size();
    joined.mutable_data()[i] = (!mask || mask.data()[at] != 0) && allowed(t, s);
  }
  return joined;
}

}  // namespace heed
