#include "train/run/interrupt.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>

using namespace heed;

TEST_CASE("interrupt: one signal asks, and only while there is a guard") {
  std::signal(SIGINT, SIG_IGN);
  for (const int signal : {SIGINT, SIGTERM}) {
    const InterruptGuard guard;
    CHECK(!InterruptGuard::requested());
    std::raise(signal);
    CHECK(InterruptGuard::requested());
  }
  const bool as_before = std::signal(SIGINT, SIG_DFL) == SIG_IGN;
  CHECK(as_before);
}

TEST_CASE("interrupt: the second signal ends the process with 130") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const InterruptGuard guard;
    std::raise(SIGINT);
    std::raise(SIGINT);
    _exit(1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
}
