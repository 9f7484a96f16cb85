#include "train/run/interrupt.h"

#include <unistd.h>

#include <cerrno>

namespace heed {

namespace {

volatile std::sig_atomic_t interrupts = 0;

void on_signal(int) {
  interrupts = interrupts + 1;
  if (interrupts > 1) {
    _exit(130);
  }
  const int error = errno;  // the interrupted code may be about to read it
  constexpr char words[] = "\nstopping after this step; once more ends at once\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, words, sizeof words - 1);
  errno = error;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupts = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &before_int_);
  sigaction(SIGTERM, &action, &before_term_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &before_int_, nullptr);
  sigaction(SIGTERM, &before_term_, nullptr);
}

bool InterruptGuard::requested() { return interrupts > 0; }

}  // namespace heed
