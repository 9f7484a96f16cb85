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

void require_context(const char* layer, const Input& in, int64_t context_length) {
  const int64_t tokens = in.past() + in.x.dim(-2);
  require(tokens <= context_length, layer, ": expected at most context_length ", context_length,
          " tokens, got ", tokens, " in ", in.x.shape(),
          in.past() > 0 ? " and what came before" : "");
}

namespace {

// Returns ids (T) as a batch of one, (1, T).
Ids batched(const Ids& ids) { return ids.rank() == 2 ? ids : ids.reshaped({1, ids.dim(0)}); }

void require_length(const char* layer, const char* what, const Ids& ids, int64_t most) {
  require(ids.dim(-1) <= most, layer, ": expected at most ", what, " ", most, " tokens, got ",
          ids.dim(-1));
}

}  // namespace

SourceAndTarget source_and_target(const char* layer, const Input& in, int64_t source_length,
                                  int64_t context_length) {
  const bool fits =
      in.ids && in.source_ids && in.ids.rank() == in.source_ids.rank() &&
      (in.ids.rank() == 1 || (in.ids.rank() == 2 && in.ids.dim(0) == in.source_ids.dim(0)));
  const auto shape = [](const Ids& ids) { return ids ? text(ids.shape()) : std::string("none"); };
  require(fits, layer, ": expected source_ids (B, S) and ids (B, T), or (S) and (T), got ",
          shape(in.source_ids), " and ", shape(in.ids));
  require_length(layer, "source_length", in.source_ids, source_length);
  require_length(layer, "context_length", in.ids, context_length);
  SourceAndTarget batch{batched(in.source_ids), batched(in.ids)};
  require(!in.source_mask || in.source_mask.shape() == batch.source_ids.shape(), layer,
          ": expected a source_mask (B, S) = ", batch.source_ids.shape(), ", got ",
          in.source_mask.shape());
  return batch;
}

}  // namespace heed
