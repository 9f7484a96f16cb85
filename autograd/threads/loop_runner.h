// The door for code that runs shared loops itself, instead of on threads.
#pragma once

#include "autograd/base/error.h"
#include "autograd/threads/parallel.h"

namespace heed {

// While one exists, it runs every shared loop of the thread that made it, on that thread, although
// work is still cut for num_threads() threads. Error if the thread has one already.
class LoopRunner {
 public:
  LoopRunner() {
    require<Error>(current_ == nullptr, "LoopRunner: one exists already");
    current_ = this;
    detail::loops_timed = true;
  }
  virtual ~LoopRunner() {
    current_ = nullptr;
    detail::loops_timed = false;
  }
  LoopRunner(const LoopRunner&) = delete;
  LoopRunner& operator=(const LoopRunner&) = delete;

  static LoopRunner* current() { return current_; }
  static bool inside_chunk() { return current_ != nullptr && current_->inside_; }
  virtual void run(int64_t count, int64_t grain, detail::ChunkBody body, void* context) = 0;

 protected:
  bool inside_ = false;  // a chunk is running

 private:
  HEED_ONE_PER_THREAD static inline thread_local LoopRunner* current_ = nullptr;
};

}  // namespace heed
