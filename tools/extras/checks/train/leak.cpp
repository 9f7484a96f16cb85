#include "tools/extras/checks/train/leak.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "layers/module/evaluation_mode.h"

namespace heed {

namespace {

constexpr int64_t most_rows = 64;

// The positions of row 0 whose tokens are the targets of the positions before. None if a target of
// any row is not the next token.
std::vector<int64_t> predicted(const Ids& ids, const Ids& targets) {
  const int64_t length = ids.dim(1);
  std::vector<int64_t> found;
  for (int64_t i = 0; i < ids.size(); ++i) {
    const int64_t t = i % length;
    if (t + 1 == length || targets.data()[i] == ignored_target) {
      continue;
    }
    if (targets.data()[i] != ids.data()[i + 1]) {
      return {};
    }
    if (i < length) found.push_back(t + 1);
  }
  return found;
}

// Of all ids, the one that the fewest of these positions of row 0 have.
int32_t rarest(const Ids& ids, std::span<const int64_t> positions) {
  std::map<int32_t, int64_t> count;
  for (const int32_t id : ids.span()) count[id] += 0;
  for (const int64_t t : positions) ++count[ids.data()[t]];
  const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  return std::min_element(count.begin(), count.end(), fewer)->first;
}

}  // namespace

bool sees_next_tokens(Module& model, const Dataset& data) {
  const Split split = data.example_count(Split::train) > 0 ? Split::train : Split::validation;
  std::vector<int64_t> which(static_cast<size_t>(std::min(most_rows, data.example_count(split))));
  if (which.empty()) {
    return false;
  }
  std::iota(which.begin(), which.end(), int64_t{0});
  const Batch batch = data.examples(split, which);
  const Ids& ids = batch.input.ids;
  if (!ids || !batch.targets || ids.rank() != 2 || batch.targets.shape() != ids.shape()) {
    return false;
  }
  // Example 0 twice is a batch of its own: padded less, where the first one had longer examples.
  const Batch twice = data.examples(split, {0, 0});
  const std::vector<int64_t> all = predicted(ids, batch.targets).empty()
                                       ? std::vector<int64_t>()
                                       : predicted(twice.input.ids, twice.targets);
  if (all.empty()) {
    return false;
  }
  // Example 0 in both rows, but in the second one with another token at half of these positions,
  // the same at all: without a mask attention is a mean over T tokens, in which one changes little.
  const std::span changed = std::span(all).subspan(all.size() / 2);
  const int32_t other = rarest(ids, changed);
  Input in = twice.input;
  in.ids = in.ids.clone();
  for (const int64_t t : changed) in.ids.mutable_data()[in.ids.dim(1) + t] = other;
  const EvaluationMode evaluating(model);
  const Array y = model(in).value();
  if (y.rank() != 3 || y.dim(0) != 2) {
    return false;
  }
  const real *const before = y.data(), *const after = before + y.size() / 2;
  double largest = 0, change = 0;
  for (int64_t i = 0; i < changed.front() * y.dim(-1); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(before[i])));
    change = std::max(change, std::abs(static_cast<double>(before[i] - after[i])));
  }
  // A kernel may round a masked product in another way; a visible token changes far more.
  return change > 1e-4 * largest;
}

}  // namespace heed
