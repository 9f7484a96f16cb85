#include "train/run/interrupt.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <memory>

using namespace heed;

namespace {

constexpr std::array every_signal{SIGINT,  SIGTERM, SIGHUP, SIGUSR1, SIGUSR2,
                                  SIGXCPU, SIGALRM, SIGPWR, SIGPROF, SIGVTALRM};

// The exit code of a child process that does this under a guard and then exits with 77.
int exit_code_of(const std::function<void()>& action) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const InterruptGuard guard;
    action();
    _exit(77);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("interrupt: one signal asks, and only while there is a guard") {
  std::signal(SIGINT, SIG_IGN);
  for (const int signal : every_signal) {
    const InterruptGuard guard;
    CHECK(!InterruptGuard::requested());
    std::raise(signal);
    CHECK(InterruptGuard::requested());
  }
  const bool as_before = std::signal(SIGINT, SIG_DFL) == SIG_IGN;
  CHECK(as_before);
}

TEST_CASE("interrupt: the second Ctrl-C ends the process, with 130 if the last step is saved") {
  for (const int first : every_signal) {
    CHECK(exit_code_of([&] {
            std::raise(first);
            std::raise(SIGINT);
          }) == 1);
    CHECK(exit_code_of([&] {
            InterruptGuard::set_saved(true);
            std::raise(first);
            std::raise(SIGINT);
          }) == 130);
  }
}

TEST_CASE("interrupt: a repeated SIGTERM or SIGUSR1 does not end the process before it has saved") {
  CHECK(exit_code_of([] {
          for (const int signal : every_signal) {
            std::raise(signal);
            if (signal != SIGINT) std::raise(signal);
          }
        }) == 77);
}

TEST_CASE("interrupt: under nohup SIGHUP stays ignored") {
  std::signal(SIGHUP, SIG_IGN);
  {
    const InterruptGuard guard;
    std::raise(SIGHUP);
    CHECK(!InterruptGuard::requested());
  }
  const bool as_before = std::signal(SIGHUP, SIG_DFL) == SIG_IGN;
  CHECK(as_before);
}

TEST_CASE("interrupt: a host program keeps its handlers of other signals") {
  static volatile std::sig_atomic_t calls;
  calls = 0;
  std::signal(SIGUSR1, [](int) { calls = calls + 1; });
  {
    const InterruptGuard guard;
    std::raise(SIGUSR1);
    CHECK(!InterruptGuard::requested());
  }
  std::signal(SIGUSR1, SIG_DFL);
  CHECK(calls == 1);
}

TEST_CASE("interrupt: of two runs at the same time the last one puts the handlers back") {
  std::signal(SIGTERM, SIG_IGN);
  auto first = std::make_unique<InterruptGuard>();
  {
    const InterruptGuard second;
    first.reset();  // that began earlier
    std::raise(SIGTERM);
    CHECK(InterruptGuard::requested());
  }
  const bool as_before = std::signal(SIGTERM, SIG_DFL) == SIG_IGN;
  CHECK(as_before);
}

TEST_CASE("interrupt: a reader that has gone ends nothing") {
  CHECK(exit_code_of([] {
          int ends[2];
          if (pipe(ends) != 0 || close(ends[0]) != 0) _exit(2);
          [[maybe_unused]] const ssize_t written = write(ends[1], "step", 4);  // SIGPIPE
        }) == 77);
}
