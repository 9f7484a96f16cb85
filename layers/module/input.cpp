#include "layers/module/input.h"

#include "autograd/ops/reshape.h"
#include "layers/module/cache.h"

namespace heed {

int64_t Input::past() const { return cache != nullptr ? cache->length() : 0; }

Tensor with_batch(const char* layer, const Tensor& x, int64_t d_in) {
  require((x.rank() == 2 || x.rank() == 3) && x.dim(-1) == d_in, layer, ": expected x (B, T, d_in ",
          d_in, ") or (T, d_in), got ", x.shape());
  return x.rank() == 3 ? x : reshape(x, {1, x.dim(0), x.dim(1)});
}

Tensor without_batch(const Tensor& y, const Tensor& x) {
  return x.rank() == 3 ? y : reshape(y, {y.dim(1), y.dim(2)});
}

void require_context(const char* layer, const Input& in, int64_t context_length, bool unbounded) {
  const int64_t tokens = (unbounded ? 0 : in.past()) + in.x.dim(-2);
  require(tokens <= context_length, layer, ": expected at most context_length ", context_length,
          " tokens, got ", tokens, " in ", in.x.shape(),
          in.past() > 0 ? " and what came before" : "");
}

}  // namespace heed
