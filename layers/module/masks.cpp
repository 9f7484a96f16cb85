#include "layers/module/masks.h"

#include "autograd/array/reduce.h"
#include "autograd/ops/masked_fill.h"

namespace heed {

namespace {

// 1 where the mask is 0, in a shape that broadcasts to what is filled.
Mask hidden_by(const Mask& mask, const Shape& shape) {
  return logical_not(mask.current()).reshaped(shape);
}

}  // namespace

void require_mask(const Mask& mask, int64_t batch, int64_t queries, int64_t keys) {
  const bool fits = mask.rank() == 2
                        ? mask.shape() == Shape{batch, keys}
                        : mask.rank() == 4 && mask.dim(1) == 1 && mask.dim(2) == queries &&
                              mask.dim(3) == keys && (mask.dim(0) == batch || mask.dim(0) == 1);
  require(fits, "attention: expected a mask (B, S) = (", batch, ", ", keys, ") or (B, 1, T, S) = (",
          batch, ", 1, ", queries, ", ", keys, "), got ", mask.shape());
}

Tensor masked_scores(const Tensor& scores, const Mask& mask, real value) {
  if (!mask) {
    return scores;
  }
  require(scores.rank() == 3, "masked_scores: expected scores (B, T, S), got ", scores.shape());
  const int64_t batch = scores.dim(0), queries = scores.dim(1), keys = scores.dim(2);
  require_mask(mask, batch, queries, keys);
  const Shape broadcasts =
      mask.rank() == 2 ? Shape{batch, 1, keys} : Shape{mask.dim(0), queries, keys};
  return masked_fill(scores, hidden_by(mask, broadcasts), value);
}

Tensor finite_tokens(const Tensor& x, const Mask& mask) {
  const bool hides = mask && mask.rank() == 2 && !dry_run();
  return hides && !all_finite(x.value()) ? masked_tokens(x, mask) : x;
}

void require_unseen(const Module& layer, const Mask& mask) {
  const Signature takes = layer.signature();
  bool unseen = takes.mask || !mask || (takes.causal && mask.rank() == 2);
  for (int64_t i = 1; i < mask.size() && unseen && !takes.mask && !dry_run(); ++i) {
    unseen = i % mask.dim(1) == 0 || mask.data()[i] == 0 || mask.data()[i - 1] != 0;
  }
  require(unseen, layer.path(),
          " reads no mask: expected none, or a mask (B, T) of a causal layer ",
          "that hides tokens after all others, got another, ", mask.shape());
}

Tensor masked_tokens(const Tensor& x, const Mask& mask) {
  if (!mask) {
    return x;
  }
  require(x.rank() == 3 && mask.shape() == Shape{x.dim(0), x.dim(1)},
          "masked_tokens: expected x (B, S, d) and a mask (B, S), got ", x.shape(), " and ",
          mask.shape());
  return masked_fill(x, hidden_by(mask, {x.dim(0), x.dim(1), 1}), 0);
}

}  // namespace heed
