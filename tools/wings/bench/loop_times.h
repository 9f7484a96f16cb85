// How long the chunks of shared loops take on one thread: what more threads would gain follows from
// that, see thread_model.h.
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "autograd/threads/loop_runner.h"

namespace heed {

// Runs the loops of its thread chunk by chunk, and takes the time of each.
class LoopTimes final : public LoopRunner {
 public:
  struct Loop {
    const char* op;  // the operation that ran it, or "" when `profiling` is off or there was none
    double before;   // seconds since the previous loop ended: outside of loops
    std::span<const double> chunks;  // seconds of each
  };
  std::vector<Loop> loops() const;
  double after() const;  // seconds since the last loop ended

  void run(int64_t count, int64_t grain, detail::ChunkBody body, void* context) override;
  void label(const char* op) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    const char* op;
    double before;
    size_t end;  // of its chunks in chunks_
  };

  std::vector<Entry> entries_;
  std::vector<double> chunks_;
  size_t labelled_ = 0;
  Clock::time_point last_end_ = Clock::now();
};

}  // namespace heed
