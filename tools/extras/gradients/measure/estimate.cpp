#include "tools/extras/gradients/measure/estimate.h"

#include <algorithm>
#include <cmath>

#include "tools/extras/gradients/backward/loss.h"

namespace heed::gradients {

namespace {

// (clean - corrupt) . gradient, summed over the last axis: a number for each row.
std::vector<double> rows_of(const Array& clean, const Recorded& corrupt) {
  const auto width = static_cast<size_t>(clean.dim(-1));
  std::vector<double> rows(clean.span().size() / width);
  for (size_t i = 0; i < clean.span().size(); ++i) {
    rows[i / width] +=
        (static_cast<double>(clean.span()[i]) - static_cast<double>(corrupt.value.span()[i])) *
        static_cast<double>(corrupt.gradient.span()[i]);
  }
  return rows;
}

class Estimates {
 public:
  Estimates(probe::Activations clean, Recording corrupt, double difference)
      : clean_(std::move(clean)), corrupt_(std::move(corrupt)), difference_(difference) {}

  // By position; none for no layer.
  std::vector<double> of_output(const Module* part) const {
    if (part == nullptr) return {};
    return shares(rows(part, Activation::output, 0));
  }

  // By head, at all positions: z (1, T, H, d), in one piece or several.
  std::vector<double> of_heads(const Module* part) const {
    std::vector<double> all;
    for (const auto& [key, z] : clean_) {
      const auto& [layer, what, first] = key;
      if (layer != part || what != Activation::heads) continue;
      const auto heads = static_cast<size_t>(z.dim(2));
      std::vector<double> sums(heads);
      const std::vector<double> each = rows(part, what, first);
      for (size_t i = 0; i < each.size(); ++i) sums[i % heads] += each[i];
      all.insert(all.end(), sums.begin(), sums.end());
    }
    return shares(std::move(all));
  }

 private:
  std::vector<double> rows(const Module* part, Activation what, int64_t first) const {
    const probe::Activations::key_type key{part, what, first};
    return rows_of(clean_.at(key), corrupt_.parts.at(key));
  }
  std::vector<double> shares(std::vector<double> changes) const {
    for (double& change : changes) change /= difference_;
    return changes;
  }

  const probe::Activations clean_;
  const Recording corrupt_;
  const double difference_;
};

void add_row(std::vector<Pair>& pairs, const Pair& of, bool heads,
             const std::vector<double>& measured, const std::vector<double>& estimated) {
  for (size_t i = 0; i < measured.size(); ++i) {
    Pair& pair = pairs.emplace_back(of);
    (heads ? pair.head : pair.position) = static_cast<int64_t>(i);
    pair.value = measured[i], pair.estimate = estimated[i];
  }
}

}  // namespace

probe::Patches estimate(Module& model, const Input& clean, const Input& corrupt,
                        const probe::Measure& measure) {
  const auto blocks = probe::blocks_of_one_sequence(model, clean, "heed probe: patch");
  std::vector<probe::PartObserver::Watched> watched;
  for (const probe::Block& block : blocks) {
    watched.push_back({block.layer, Activation::output});
    watched.push_back({block.attention.front(), Activation::output});
    watched.push_back({block.attention.front(), Activation::heads});
    if (block.feed_forward != nullptr) watched.push_back({block.feed_forward, Activation::output});
  }
  const auto measured = [&](const Array& logits) {
    return measure(logits.data() + logits.size() - logits.dim(-1));
  };
  probe::Activations of_clean = probe::activations_of(model, clean, watched);
  Recording of_corrupt = record(
      model, corrupt, watched, {},
      [&](const Array& logits) { return measure_cotangent(logits, measure); }, "heed probe: patch");
  zero_gradients(model);
  const NoGrad off;
  probe::Patches found{.clean = measured(model(clean).value()),
                       .corrupt = measured(of_corrupt.output)};
  const Estimates estimates(std::move(of_clean), std::move(of_corrupt),
                            found.clean - found.corrupt);
  for (const probe::Block& block : blocks) {
    found.residual.push_back(estimates.of_output(block.layer));
    found.attention.push_back(estimates.of_output(block.attention.front()));
    found.feed_forward.push_back(estimates.of_output(block.feed_forward));
    found.heads.push_back(estimates.of_heads(block.attention.front()));
  }
  return found;
}

std::vector<Pair> pairs_of(const probe::Patches& measured, const probe::Patches& estimated) {
  std::vector<Pair> pairs;
  for (size_t b = 0; b < measured.heads.size(); ++b) {
    const auto add = [&](const char* part, auto rows) {
      const bool heads = std::string(part) == "head";
      add_row(pairs, {.part = part, .block = static_cast<int64_t>(b)}, heads, (measured.*rows)[b],
              (estimated.*rows)[b]);
    };
    add("residual", &probe::Patches::residual);
    add("attention", &probe::Patches::attention);
    add("feed_forward", &probe::Patches::feed_forward);
    add("head", &probe::Patches::heads);
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
