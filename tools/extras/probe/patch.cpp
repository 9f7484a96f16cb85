#include "tools/extras/probe/patch.h"

#include <algorithm>

#include "layers/module/evaluation_mode.h"
#include "tools/extras/report/parts.h"

namespace heed::probe {

namespace {

class Patching {
  using Key = Activations::key_type;

 public:
  Patching(Module& model, const Input& clean, const Input& corrupt, const Measure& measure,
           const std::vector<PartObserver::Watched>& parts)
      : model_(model),
        corrupt_(corrupt),
        measure_(measure),
        clean_values_(activations_of(model, clean, parts)),
        corrupt_values_(activations_of(model, corrupt, parts)),
        of_clean_(measured(clean)),
        of_corrupt_(measured(corrupt)) {}

  double of_clean() const { return of_clean_; }
  double of_corrupt() const { return of_corrupt_; }

  // The share of each position of an output (1, T, d).
  std::vector<double> at_positions(const Module* part) const {
    const Key key{part, Activation::output, 0};
    const int64_t width = clean_values_.at(key).dim(-1);
    std::vector<double> shares;
    for (int64_t t = 0; t < corrupt_.ids.size(); ++t) {
      shares.push_back(share(key, t * width, (t + 1) * width, width, width));
    }
    return shares;
  }

  // The share of each head of an attention, z (1, T, H, d) in one piece or several.
  std::vector<double> of_heads(const Module* part) const {
    std::vector<double> shares;
    for (const auto& [key, value] : clean_values_) {
      if (std::get<0>(key) != part || std::get<1>(key) != Activation::heads) continue;
      const int64_t heads = value.dim(2), width = value.dim(3);
      for (int64_t h = 0; h < heads; ++h) {
        shares.push_back(share(key, h * width, value.size(), width, heads * width));
      }
    }
    return shares;
  }

 private:
  // m of a run of the model as it is now observed.
  double measured(const Input& in) const {
    const EvaluationMode evaluating(model_);
    return measure_.at_end(model_(in).value());
  }

  // The share for the elements [first, end) in runs of `width`, one every `step`.
  double share(const Key& key, int64_t first, int64_t end, int64_t width, int64_t step) const {
    const Array &clean = clean_values_.at(key), &corrupt = corrupt_values_.at(key);
    Array mixed = corrupt.clone();
    real* const to = mixed.mutable_data();
    for (int64_t at = first; at < end; at += step) {
      std::copy_n(clean.data() + at, width, to + at);
    }
    // Before the first token that differs a causal model has the same activations.
    if (std::equal(mixed.span().begin(), mixed.span().end(), corrupt.span().begin())) {
      return 0;
    }
    const PartObserver observer(
        {{std::get<0>(key), std::get<1>(key)}},
        [&](const Observation& seen) { return seen.key() == key ? mixed : Array(); });
    return (measured(corrupt_) - of_corrupt_) / (of_clean_ - of_corrupt_);
  }

  Module& model_;
  const Input& corrupt_;
  const Measure measure_;
  const Activations clean_values_, corrupt_values_;
  const double of_clean_, of_corrupt_;
};

}  // namespace

Patches patch(Module& model, const Input& clean, const Input& corrupt, const Measure& measure) {
  const std::vector<Block> blocks = blocks_of_one_sequence(model, clean, "heed probe: patch");
  require(clean.ids.shape() == corrupt.ids.shape() && clean.ids.dim(0) == 1,
          "heed probe: patch: expected ids (1, T) of one shape, got ", clean.ids.shape(), " and ",
          corrupt.ids.shape());
  std::vector<const Module*> attention;
  for (const Block& block : blocks) attention.push_back(block.attention.front());
  count_heads(model, clean, attention, "heed probe: patch");
  const Patching patching(model, clean, corrupt, measure, watched_in(blocks));
  Patches found{.clean = patching.of_clean(), .corrupt = patching.of_corrupt()};
  require<ConfigError>(
      found.clean != found.corrupt,
      "heed probe: patch: expected prompts with different logits of the answer, got ", found.clean,
      " for both: there is nothing to restore");
  for (const Block& block : blocks) {
    found.residual.push_back(patching.at_positions(block.layer));
    found.attention.push_back(patching.at_positions(block.attention.front()));
    found.feed_forward.push_back(block.feed_forward != nullptr
                                     ? patching.at_positions(block.feed_forward)
                                     : std::vector<double>());
    found.heads.push_back(patching.of_heads(block.attention.front()));
  }
  return found;
}

}  // namespace heed::probe
