// Ctrl-C and SIGTERM while training: the first asks for an end after the current step and says so,
// the second
// ends the process at once (exit code 130; a checkpoint that is being written stays as it was).
#pragma once

#include <csignal>

namespace heed {

// While one exists, the signals are caught; afterwards they do what they did before.
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
