#include "train/run/interrupt.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>

namespace heed {

namespace {

// All signals that ask a process to end: people, batch systems before a job's time is over, limits
// and timers send them. SIGQUIT asks for a core dump of this moment, and gets it.
constexpr std::array handled{SIGINT,  SIGTERM, SIGHUP,  SIGUSR1,   SIGUSR2, SIGXCPU,
                             SIGALRM, SIGPWR,  SIGPROF, SIGVTALRM, SIGPIPE};

std::atomic<bool> stop_requested{false}, step_saved{false}, is_silent{false};
constinit std::mutex guards_mutex;
int guards = 0;  // that exist, of all threads
std::array<struct sigaction, handled.size()> handlers_before;

void on_signal(int signal) {
  if (stop_requested.exchange(true)) {
    if (signal == SIGINT) {
      _exit(step_saved ? 130 : 1);
    }
    return;
  }
  if (is_silent) {
    return;
  }
  const int error = errno;  // the interrupted code may be about to read it
  constexpr char words[] = "\nstopping after this step; once more ends at once\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, words, sizeof words - 1);
  errno = error;
}

}  // namespace

InterruptGuard::InterruptGuard(bool speaks) {
  const std::lock_guard lock(guards_mutex);
  step_saved = false;
  if (guards++ > 0) {
    return;
  }
  is_silent = !speaks;
  stop_requested = false;
  for (size_t i = 0; i < handled.size(); ++i) {
    sigaction(handled[i], nullptr, &handlers_before[i]);
    struct sigaction action = handlers_before[i];
    // A host program keeps its own handlers of other signals, and nohup's of SIGHUP.
    if (handled[i] == SIGINT || handled[i] == SIGTERM || handlers_before[i].sa_handler == SIG_DFL) {
      action.sa_handler = handled[i] == SIGPIPE ? SIG_IGN : on_signal;
      sigemptyset(&action.sa_mask);
      action.sa_flags = SA_RESTART;
    }
    sigaction(handled[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  const std::lock_guard lock(guards_mutex);
  if (--guards > 0) {
    return;
  }
  for (size_t i = 0; i < handled.size(); ++i) {
    sigaction(handled[i], &handlers_before[i], nullptr);
  }
}

bool InterruptGuard::requested() { return stop_requested; }

void InterruptGuard::set_saved(bool saved) { step_saved = saved; }

}  // namespace heed
