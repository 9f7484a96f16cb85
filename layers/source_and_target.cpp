#include "layers/source_and_target.h"

namespace heed {

void SourceAndTargetConfig::source_and_target_fields(Fields& f) {
  f.required("source_vocab_size", source_vocab_size, at_least(1),
             "number of tokens of the source; needed where no data gives it")
      .example(5);
  f.required("vocab_size", vocab_size, at_least(1),
             "number of tokens; needed where no data gives it")
      .example(7);
  f.required("source_length", source_length, at_least(1), "largest number of tokens of a source")
      .example(6);
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
