#include "tools/extras/report/speed.h"

#include <algorithm>

namespace heed {

namespace {

// True if a sample was drawn or a checkpoint saved after `from` and before `to`. Both are done
// after the row of their step was written, so `from` counts and `to` does not.
bool interrupted(const Pauses& pauses, int64_t from, int64_t to) {
  return std::any_of(pauses.every.begin(), pauses.every.end(), [&](int64_t every) {
    return every > 0 && (from % every == 0 || from / every < (to - 1) / every);
  });
}

}  // namespace

std::vector<Speed> training_speed(std::span<const MetricsRow> rows, const Pauses& pauses) {
  std::vector<Speed> undisturbed, all;
  for (size_t i = 1; i < rows.size(); ++i) {
    const MetricsRow &before = rows[i - 1], &row = rows[i];
    const auto known = pauses.evaluations.find(row.step);
    const bool measured = known != pauses.evaluations.end();
    const Speed stretch{row.step,
                        static_cast<double>(row.tokens.value_or(0) - before.tokens.value_or(0)),
                        row.seconds.value_or(0) - before.seconds.value_or(0) -
                            (row.val_loss && measured ? known->second : 0)};
    if (stretch.tokens <= 0 || stretch.seconds <= 0) {
      continue;
    }
    all.push_back(stretch);
    // The report is written after an evaluation, which disturbs the next stretch.
    const bool evaluated = before.val_loss.has_value() || (row.val_loss && !measured);
    if (!evaluated && !interrupted(pauses, before.step, row.step)) {
      undisturbed.push_back(stretch);
    }
  }
  return undisturbed.empty() ? all : undisturbed;
}

std::vector<Speed> merged(std::span<const Speed> speeds, size_t most) {
  const size_t together = (speeds.size() + most - 1) / std::max<size_t>(1, most);
  std::vector<Speed> out;
  for (size_t i = 0; i < speeds.size(); ++i) {
    if (i % together == 0) {
      out.push_back({});
    }
    out.back().step = speeds[i].step;
    out.back().tokens += speeds[i].tokens;
    out.back().seconds += speeds[i].seconds;
  }
  return out;
}

}  // namespace heed
