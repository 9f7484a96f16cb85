// Ctrl-C and SIGTERM during training. The first signal prints a message and stops the run after the
// current step. The second ends the process at once (exit code 130); a checkpoint being written is
// never damaged.
#pragma once

#include <csignal>

namespace heed {

// Catches the signals during its lifetime; the previous handlers are restored afterwards.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool requested();

 private:
  struct sigaction before_int_, before_term_;
};

}  // namespace heed
