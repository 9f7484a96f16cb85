#include "train/run/interrupt.h"

#include <unistd.h>

#include <cerrno>

namespace heed {

namespace {

constexpr std::array handled{SIGINT, SIGTERM, SIGHUP, SIGPIPE};

volatile std::sig_atomic_t stop_requested = 0;
volatile std::sig_atomic_t step_saved = 0;
volatile std::sig_atomic_t is_silent = 0;

void on_signal(int signal) {
  if (stop_requested != 0) {
    if (signal == SIGINT) {
      _exit(step_saved != 0 ? 130 : 1);
    }
    return;
  }
  stop_requested = 1;
  if (is_silent != 0) {
    return;
  }
  const int error = errno;  // the interrupted code may be about to read it
  constexpr char words[] = "\nstopping after this step; once more ends at once\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, words, sizeof words - 1);
  errno = error;
}

}  // namespace

InterruptGuard::InterruptGuard(bool speaks) {
  is_silent = speaks ? 0 : 1;
  stop_requested = 0;
  step_saved = 0;
  for (size_t i = 0; i < handled.size(); ++i) {
    struct sigaction action {};
    sigaction(handled[i], nullptr, &before_[i]);
    const bool nohup = handled[i] == SIGHUP && before_[i].sa_handler == SIG_IGN;
    action.sa_handler = handled[i] == SIGPIPE || nohup ? SIG_IGN : on_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(handled[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (size_t i = 0; i < handled.size(); ++i) {
    sigaction(handled[i], &before_[i], nullptr);
  }
}

bool InterruptGuard::requested() { return stop_requested != 0; }

void InterruptGuard::set_saved(bool saved) { step_saved = saved ? 1 : 0; }

}  // namespace heed
