#include "train/check/leak.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "layers/module/evaluation_mode.h"

namespace heed {

namespace {

constexpr int64_t most_rows = 64;

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
  const int64_t changed = last_predicted(ids, batch.targets);
  const int32_t* const end = ids.data() + ids.size();
  const int32_t* const other =
      std::find_if(ids.data(), end, [&](int32_t id) { return id != ids.data()[changed]; });
  if (changed == 0 || other == end) {
    return false;
  }
  // Example 0 in both rows, but with another token at `changed` in the second one.
  Input in = data.examples(split, {0, 0}).input;
  in.ids = in.ids.clone();
  in.ids.mutable_data()[in.ids.dim(1) + changed] = *other;
  const EvaluationMode evaluating(model);
  const Array y = model(in).value();
  if (y.rank() != 3 || y.dim(0) != 2) {
    return false;
  }
  const real *const before = y.data(), *const after = before + y.size() / 2;
  double largest = 0, change = 0;
  for (int64_t i = 0; i < changed * y.dim(-1); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(before[i])));
    change = std::max(change, std::abs(static_cast<double>(before[i] - after[i])));
  }
  // A kernel may round a masked product in another way; a visible token changes far more.
  return change > 1e-4 * largest;
}

}  // namespace heed
