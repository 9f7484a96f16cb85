// Ctrl-C, SIGTERM, SIGHUP (a closed terminal) and other signals that would end the process, during
// training. The first one prints a message and stops the run after the current step. Another Ctrl-C
// ends the process at once, with exit code 130 if the last finished step is saved, else 1; a
// checkpoint being written is never damaged. The others change nothing when they come again, as
// from `timeout`, or from the terminal and the shell.
#pragma once

namespace heed {

// Catches the signals during its lifetime; the previous handlers are restored afterwards. SIGHUP
// stays ignored if it was (nohup). SIGPIPE is ignored, since a reader of the progress that has gone
// (`| tee`, `| head`) must not end a run. Threads that train at the same time have one each: a
// signal stops them all, and the last guard restores the handlers.
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
};

}  // namespace heed
