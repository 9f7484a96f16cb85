// How long the chunks of shared loops take on one thread: what more threads would gain follows from
// that, see tools/wings/bench/thread_model.h.
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "autograd/threads/parallel.h"

namespace heed {

// While one exists, every shared loop of the thread that made it runs on that thread, chunk by
// chunk, although work is still cut for num_threads() threads. A thread may have one at a time.
class LoopTimes {
 public:
  LoopTimes();
  ~LoopTimes();
  LoopTimes(const LoopTimes&) = delete;
  LoopTimes& operator=(const LoopTimes&) = delete;

  struct Loop {
    const char* op;  // the operation that ran it, or "" when `profiling` is off or there was none
    double before;   // seconds since the previous loop ended: outside of loops
    std::span<const double> chunks;  // seconds of each
  };
  std::vector<Loop> loops() const;
  double after() const;  // seconds since the last loop ended

  static LoopTimes* current() { return current_; }
  static bool inside_chunk() { return current_ != nullptr && current_->inside_; }
  void run(int64_t count, int64_t grain, detail::ChunkBody body, void* context);
  void label(const char* op);  // the loops since the last label belong to op

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    const char* op;
    double before;
    size_t end;  // of its chunks in chunks_
  };

  HEED_ONE_PER_THREAD static inline thread_local LoopTimes* current_ = nullptr;
  std::vector<Entry> entries_;
  std::vector<double> chunks_;
  size_t labelled_ = 0;
  bool inside_ = false;
  Clock::time_point last_end_ = Clock::now();
};

}  // namespace heed
