// Ctrl-C, SIGTERM and SIGHUP (a closed terminal) during training. The first signal prints a message
// and stops the run after the current step. Another Ctrl-C ends the process at once, with exit code
// 130 if the last finished step is saved, else 1; a checkpoint being written is never damaged.
// Another SIGTERM or SIGHUP changes nothing, since both may come twice: from `timeout`, or from the
// terminal and the shell.
#pragma once

#include <array>
#include <csignal>

namespace heed {

// Catches the signals during its lifetime; the previous handlers are restored afterwards. SIGHUP
// stays ignored if it was (nohup). SIGPIPE is ignored, since a reader of the progress that has gone
// (`| tee`, `| head`) must not end a run.
class InterruptGuard {
 public:
  // speaks: whether the first signal prints its message. Of several processes one does.
  explicit InterruptGuard(bool speaks = true);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool requested();
  // Whether the last finished step is in a checkpoint.
  static void set_saved(bool saved);

 private:
  std::array<struct sigaction, 4> before_;
};

}  // namespace heed
