#include "tools/wings/bench/loop_times.h"

#include <algorithm>
#include <numeric>

namespace heed {

double StepTimes::total() const {
  double seconds = after;
  for (const Loop& loop : loops) {
    seconds += std::accumulate(loop.chunks.begin(), loop.chunks.end(), loop.before);
  }
  return seconds;
}

StepTimes LoopTimes::step() const {
  StepTimes taken{{}, std::chrono::duration<double>(Clock::now() - last_end_).count()};
  auto begin = chunks_.begin();
  for (const Entry& entry : entries_) {
    const auto end = chunks_.begin() + static_cast<std::ptrdiff_t>(entry.end);
    taken.loops.push_back({entry.op, entry.before, {begin, end}});
    begin = end;
  }
  return taken;
}

void LoopTimes::run(int64_t count, int64_t grain, detail::ChunkBody body, void* context) {
  Clock::time_point last = Clock::now();
  const double before = std::chrono::duration<double>(last - last_end_).count();
  inside_ = true;
  for (int64_t begin = 0; begin < count; begin += grain) {
    body(context, begin, std::min(count, begin + grain));
    const Clock::time_point now = Clock::now();
    chunks_.push_back(std::chrono::duration<double>(now - last).count());
    last = now;
  }
  inside_ = false;
  entries_.push_back({"", before, chunks_.size()});
  last_end_ = Clock::now();
}

void LoopTimes::has_run(std::span<const NodeRef> nodes, size_t k, bool reached) {
  if (reached) {
    label(nodes[k]->op());
  }
}

void LoopTimes::label(const char* op) {
  for (; labelled_ < entries_.size(); ++labelled_) {
    entries_[labelled_].op = op;
  }
}

}  // namespace heed
