#include "tools/extras/probe/lens.h"

#include <algorithm>
#include <cmath>

#include "layers/module/evaluation_mode.h"
#include "tools/extras/report/parts.h"

namespace heed::probe {

Guess guess_of(std::span<const real> logits, std::optional<int32_t> right) {
  const auto top = std::max_element(logits.begin(), logits.end());
  const auto largest = static_cast<double>(*top);
  double sum = 0;
  for (const real logit : logits) {
    sum += std::exp(static_cast<double>(logit) - largest);
  }
  Guess guess{static_cast<int32_t>(top - logits.begin()), 1 / sum, {}};
  if (right) {
    const auto wanted = static_cast<size_t>(*right);
    int64_t above = 0;
    for (size_t id = 0; id < logits.size(); ++id) {
      above += logits[id] > logits[wanted] || (logits[id] == logits[wanted] && id < wanted) ? 1 : 0;
    }
    guess.rank = above + 1;
  }
  return guess;
}

std::vector<Array> outputs_after_blocks(Module& model, const Input& in) {
  const std::vector<Block> blocks = stacks_of(model, "heed probe: lens").back();
  const EvaluationMode evaluating(model);
  std::vector<PartObserver::Watched> outputs;
  for (const Block& block : blocks) {
    outputs.push_back({block.layer, Activation::output});
  }
  const Activations after = activations_of(model, in, outputs);
  std::vector<Array> streams{ends_of(model, in, blocks).stream};
  for (const Block& block : blocks) {
    streams.push_back(after.at({block.layer, Activation::output, 0}));
  }
  std::vector<Array> logits;
  for (const Array& stream : streams) {
    const PartObserver in_place({outputs.back()}, [&](const Observation&) { return stream; });
    logits.push_back(model(in).value());
  }
  return logits;
}

Lens logit_lens(Module& model, const Input& in) {
  Lens lens{{in.ids.data(), in.ids.data() + in.ids.size()}, {}};
  lens.in_place = !model.signature().causal && !in.source_ids;
  const int64_t tokens = in.ids.size();
  for (const Array& logits : outputs_after_blocks(model, in)) {
    require_logits(logits, tokens, "heed probe: lens");
    const auto width = static_cast<size_t>(logits.dim(2));
    std::vector<Guess> row;
    for (size_t t = 0; t < lens.ids.size(); ++t) {
      const size_t at = t + (lens.in_place ? 0 : 1);
      const bool known = at < lens.ids.size() &&
                         static_cast<size_t>(lens.ids[at]) < width - (lens.in_place ? 1 : 0);
      row.push_back(guess_of(logits.span().subspan(t * width, width),
                             known ? std::optional(lens.ids[at]) : std::nullopt));
    }
    lens.blocks.push_back(std::move(row));
  }
  return lens;
}

}  // namespace heed::probe
