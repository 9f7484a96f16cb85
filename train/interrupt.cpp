#include "train/interrupt.h"

#include <unistd.h>

#include <csignal>

namespace heed {

namespace {

volatile std::sig_atomic_t interrupts = 0;

void on_signal(int) {
  interrupts = interrupts + 1;
  if (interrupts > 1) {
    _exit(130);
  }
}

void handle_signals(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupts = 0;
  handle_signals(on_signal);
}

InterruptGuard::~InterruptGuard() { handle_signals(SIG_DFL); }

bool InterruptGuard::requested() { return interrupts > 0; }

}  // namespace heed
