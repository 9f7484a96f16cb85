#include "train/check/leak.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "layers/module/evaluation_mode.h"

namespace heed {

namespace {

constexpr int64_t most_rows = 64;

// One sequence, and the same one with another token at `changed`.
struct Probe {
  Input before, after;
  int64_t changed = 0;
};

// The last position of row 0 whose token is the target of the position before; 0 if there is none.
// Also 0 if a target of any row is not the next token.
int64_t last_predicted(const Ids& ids, const Ids& targets) {
  const int64_t length = ids.dim(1);
  int64_t last = 0;
  for (int64_t i = 0; i < ids.size(); ++i) {
    const int64_t t = i % length;
    if (t + 1 == length || targets.data()[i] == ignored_target) {
      continue;
    }
    if (targets.data()[i] != ids.data()[i + 1]) {
      return 0;
    }
    last = i < length ? t + 1 : last;
  }
  return last;
}

std::optional<Probe> probe_of(const Dataset& data) {
  const Split split = data.example_count(Split::train) > 0 ? Split::train : Split::validation;
  std::vector<int64_t> which(static_cast<size_t>(std::min(most_rows, data.example_count(split))));
  if (which.empty()) {
    return {};
  }
  std::iota(which.begin(), which.end(), int64_t{0});
  const Batch batch = data.examples(split, which);
  const Ids& ids = batch.input.ids;
  if (!ids || !batch.targets || ids.rank() != 2 || batch.targets.shape() != ids.shape()) {
    return {};
  }
  Probe probe{.before = data.examples(split, {0}).input, .after = {}};
  probe.changed = last_predicted(ids, batch.targets);
  const int32_t* const end = ids.data() + ids.size();
  const int32_t* const other =
      std::find_if(ids.data(), end, [&](int32_t id) { return id != ids.data()[probe.changed]; });
  if (probe.changed == 0 || other == end) {
    return {};
  }
  probe.after = probe.before;
  probe.after.ids = probe.before.ids.clone();
  probe.after.ids.mutable_data()[probe.changed] = *other;
  return probe;
}

}  // namespace

bool sees_next_tokens(Module& model, const Dataset& data) {
  const std::optional<Probe> probe = probe_of(data);
  if (!probe) {
    return false;
  }
  const EvaluationMode evaluating(model);
  const Array before = model(probe->before).value(), after = model(probe->after).value();
  if (before.rank() != 3 || before.shape() != after.shape()) {
    return false;
  }
  double largest = 0, change = 0;
  const int64_t earlier = probe->changed * before.dim(-1);
  for (int64_t i = 0; i < earlier; ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(before.data()[i])));
    change = std::max(change, std::abs(static_cast<double>(before.data()[i] - after.data()[i])));
  }
  // A kernel may round a masked product in another way; a visible token changes far more.
  return change > 1e-4 * largest;
}

}  // namespace heed
