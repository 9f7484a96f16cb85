#include "tools/extras/gradients/measure/estimate.h"

#include <algorithm>
#include <cmath>

#include "tools/extras/gradients/backward/loss.h"

namespace heed::gradients {

namespace {

const std::string patch_name = "heed probe: patch";

// The product at each position; none for no layer.
std::vector<double> by_position(const Recording& of, const Module* part) {
  std::vector<double> products;
  if (part == nullptr) return products;
  const Recorded& output = of.output_of(part);
  for (int64_t t = 0; t < output.value.dim(1); ++t) products.push_back(output.product_at(t));
  return products;
}

}  // namespace

probe::Patches estimate(Module& model, const Input& clean, const Input& corrupt,
                        const probe::Measure& measure) {
  const auto blocks = probe::blocks_of_one_sequence(model, clean, patch_name);
  const auto watched = probe::watched_in(blocks);
  const probe::Activations of_clean = probe::activations_of(model, clean, watched);
  Recording changes = record(
      model, corrupt, watched, {},
      [&](const Array& logits) { return measure_cotangent(logits, measure); }, patch_name);
  zero_gradients(model);
  const NoGrad off;
  probe::Patches found{.clean = measure.at_end(model(clean).value()),
                       .corrupt = measure.at_end(changes.output)};
  for (auto& [key, change] : changes.parts) {  // a_clean - a_corrupt, as a share of the whole
    const Array before = std::exchange(change.value, of_clean.at(key).clone());
    std::transform(
        change.value.span().begin(), change.value.span().end(), before.data(),
        change.value.mutable_data(), [&](real now, real was) {
          return static_cast<real>(static_cast<double>(now - was) / (found.clean - found.corrupt));
        });
  }
  for (const probe::Block& block : blocks) {
    found.residual.push_back(by_position(changes, block.layer));
    found.attention.push_back(by_position(changes, block.attention.front()));
    found.feed_forward.push_back(by_position(changes, block.feed_forward));
    found.heads.push_back(changes.products_of_heads(block.attention.front()));
  }
  return found;
}

std::vector<Pair> pairs_of(const probe::Patches& measured, const probe::Patches& estimated) {
  std::vector<Pair> pairs;
  for (size_t b = 0; b < measured.heads.size(); ++b) {
    for (const auto& [part, rows] : {std::pair{"residual", &probe::Patches::residual},
                                     {"attention", &probe::Patches::attention},
                                     {"feed_forward", &probe::Patches::feed_forward},
                                     {"head", &probe::Patches::heads}}) {
      const std::vector<double>& row = (measured.*rows)[b];
      for (size_t i = 0; i < row.size(); ++i) {
        Pair& pair = pairs.emplace_back(Pair{.part = part, .block = static_cast<int64_t>(b)});
        (rows == &probe::Patches::heads ? pair.head : pair.position) = static_cast<int64_t>(i);
        pair.value = row[i], pair.estimate = (estimated.*rows)[b][i];
      }
    }
  }
  return pairs;
}

std::optional<double> correlation(const std::vector<Pair>& pairs) {
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (const Pair& of : pairs) {
    if (of.part == "residual" || of.part == "attention") continue;
    if (of.value == 0 && of.estimate == 0) continue;
    n += 1;
    x += of.value, y += of.estimate;
    xx += of.value * of.value, yy += of.estimate * of.estimate, xy += of.value * of.estimate;
  }
  const double spread = (n * xx - x * x) * (n * yy - y * y);
  return spread > 0 ? std::optional((n * xy - x * y) / std::sqrt(spread)) : std::nullopt;
}

}  // namespace heed::gradients
