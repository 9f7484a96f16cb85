#include "train/run/interrupt.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <initializer_list>

using namespace heed;

namespace {

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
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const InterruptGuard guard;
    CHECK(!InterruptGuard::requested());
    std::raise(signal);
    CHECK(InterruptGuard::requested());
  }
  const bool as_before = std::signal(SIGINT, SIG_DFL) == SIG_IGN;
  CHECK(as_before);
}

TEST_CASE("interrupt: the second Ctrl-C ends the process, with 130 if the last step is saved") {
  for (const int first : {SIGINT, SIGTERM, SIGHUP}) {
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

TEST_CASE("interrupt: a repeated SIGTERM or SIGHUP does not end the process before it has saved") {
  CHECK(exit_code_of([] {
          for (const int signal : {SIGINT, SIGTERM, SIGTERM, SIGHUP, SIGHUP}) {
            std::raise(signal);
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

TEST_CASE("interrupt: a reader that has gone ends nothing") {
  CHECK(exit_code_of([] {
          int ends[2];
          if (pipe(ends) != 0 || close(ends[0]) != 0) _exit(2);
          [[maybe_unused]] const ssize_t written = write(ends[1], "step", 4);  // SIGPIPE
        }) == 77);
}
