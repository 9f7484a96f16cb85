#include "train/data/pair_format.h"

#include <algorithm>

#include "layers/module/evaluation_mode.h"
#include "train/data/generate.h"

namespace heed {

Batch PairFormat::blank(int64_t count, const PairSizes& room) const {
  const int64_t from = room.source + 1, to = room.target + 1;
  Batch batch{Input(Ids::full({count, to}, marks_.end), Mask::zeros({count, to})),
              Ids::full({count, to}, ignored_target)};
  batch.input.source_ids = Ids::full({count, from}, marks_.source_end);
  batch.input.source_mask = Mask::zeros({count, from});
  return batch;
}

void PairFormat::fill(Batch& batch, int64_t i, std::span<const int32_t> source,
                      std::span<const int32_t> target) const {
  const int64_t from = batch.input.source_ids.dim(1), to = batch.targets.dim(1);
  std::copy(source.begin(), source.end(), batch.input.source_ids.mutable_data() + i * from);
  std::fill_n(batch.input.source_mask.mutable_data() + i * from, source.size() + 1, uint8_t{1});
  int32_t* ids = batch.input.ids.mutable_data() + i * to;
  *ids = marks_.start;
  std::copy(target.begin(), target.end(), ids + 1);
  std::fill_n(batch.input.mask.mutable_data() + i * to, target.size() + 1, uint8_t{1});
  int32_t* targets = batch.targets.mutable_data() + i * to;
  *std::copy(target.begin(), target.end(), targets) = marks_.end;
}

PairFormat::Decoded PairFormat::write(Module& model, std::vector<int32_t> source,
                                      const std::function<bool()>& stop) const {
  const EvaluationMode evaluating(model);
  source.push_back(marks_.source_end);
  std::vector<int32_t> written{marks_.start};
  Input in;
  in.source_ids = Ids::from({1, static_cast<int64_t>(source.size())}, source);
  const auto room = static_cast<size_t>(longest_.target) + 1;
  const auto stopped = [&] { return stop && stop(); };
  for (bool ended = false; !ended && written.size() <= room && !stopped();) {
    in.ids = Ids::from({1, static_cast<int64_t>(written.size())}, written);
    written.push_back(likeliest(model(in).value()));
    ended = written.back() == marks_.end;
  }
  const bool ended = written.back() == marks_.end;
  return {{written.begin() + 1, written.end() - (ended ? 1 : 0)}, std::move(in)};
}

}  // namespace heed
