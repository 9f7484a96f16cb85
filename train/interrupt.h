// Ctrl-C and SIGTERM while training: the first asks for an end after the current step, the second
// ends the process at once (exit code 130; a checkpoint that is being written stays as it was).
#pragma once

namespace heed {

// While one exists, the signals are caught.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool requested();
};

}  // namespace heed
