// What models share that put a whole sequence into a class.
#pragma once

#include "layers/transformer_body.h"

namespace heed {

class ClassifyingBody : public TransformerBody {
 protected:
  using TransformerBody::TransformerBody;

  // ids (B, T) -> logits (B, num_classes), (T) -> (num_classes): out_head of one state for the
  // whole sequence (masked_mean.h). A mask (B, T) hides padding, also from pooling; a mask
  // (B, 1, T, T) restricts attention alone.
  Tensor classes(const char* layer, const Input& in, const std::string& pool,
                 Child<Linear>& out_head);
};

}  // namespace heed
