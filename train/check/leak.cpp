#include "train/check/leak.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "layers/module/evaluation_mode.h"

namespace heed {

namespace {

constexpr int64_t most_rows = 64, enough_tokens = 16;

// A position of row 0 whose token is the target of the position before: the last one among the
// first `enough_tokens`, else the first one. 0 if there is none, or if a target of any row is not
// the next token.
int64_t predicted_position(const Ids& ids, const Ids& targets) {
  const int64_t length = ids.dim(1);
  int64_t found = 0;
  for (int64_t i = 0; i < ids.size(); ++i) {
    const int64_t t = i % length;
    if (t + 1 == length || targets.data()[i] == ignored_target) {
      continue;
    }
    if (targets.data()[i] != ids.data()[i + 1]) {
      return 0;
    }
    if (i < length && (found == 0 || t + 1 < enough_tokens)) {
      found = t + 1;
    }
  }
  return found;
}

// Example 0 in two rows that end in different tokens: its own at position `end`, and `other`.
// The rows are not cut if something else has their length.
Input two_endings(const Dataset& data, Split split, int64_t end, int32_t other) {
  Input in = data.examples(split, {0, 0}).input;
  const int64_t whole = in.ids.dim(1), length = in.mask || in.source_ids ? whole : end + 1;
  const int32_t* const tokens = in.ids.data();
  Ids ids = Ids::uninitialised({2, length});
  int32_t* const row = ids.mutable_data();
  std::copy_n(tokens, length, row);
  std::copy_n(tokens, length, row + length);
  row[length + end] = other;
  in.ids = ids;
  return in;
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
  const int64_t changed = predicted_position(ids, batch.targets);
  const int32_t* const end = ids.data() + ids.size();
  const int32_t* const other =
      std::find_if(ids.data(), end, [&](int32_t id) { return id != ids.data()[changed]; });
  if (changed == 0 || other == end) {
    return false;
  }
  const EvaluationMode evaluating(model);
  const Array y = model(two_endings(data, split, changed, *other)).value();
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
