#include "train/extras/sequence_models/layers/classifying_body.h"

#include "autograd/ops/reshape.h"
#include "layers/module/masked_mean.h"

namespace heed {

Tensor ClassifyingBody::classes(const char* layer, const Input& in, const std::string& pool,
                                Child<Linear>& out_head) {
  require_ids(layer, in);
  require(in.ids.dim(-1) > 0, layer, ": expected a token or more, got ", in.ids.shape());
  const bool single = in.ids.rank() == 1;
  const Shape whole{single ? 1 : in.ids.dim(0), in.ids.dim(-1)};
  require(!in.mask || in.mask.rank() == 4 || in.mask.shape() == whole, layer,
          ": expected a mask (B, T) = ", whole, " or (B, 1, T, T), got ", in.mask.shape());
  Input batched = in;
  if (single) batched.ids = in.ids.reshaped(whole);
  const Tensor x = states(layer, batched);  // (B, T, d_model)
  const Mask keep = in.mask.rank() == 4 ? Mask() : in.mask;
  const Tensor logits = out_head(pooled(layer, pool, x, keep));  // (B, 1, num_classes)
  return reshape(logits, single ? Shape{logits.dim(2)} : Shape{x.dim(0), logits.dim(2)});
}

}  // namespace heed
