#include "train/files/temporary.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iterator>

#include "autograd/base/error.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"
#include "train/files/files.h"

namespace fs = std::filesystem;
using namespace heed;
using heed::testing::entries;
using heed::testing::TempDir;

namespace {

// The number of a process that has ended.
pid_t ended_process() {
  const pid_t ended = ::fork();
  if (ended == 0) {
    ::_exit(0);
  }
  ::waitpid(ended, nullptr, 0);
  return ended;
}

}  // namespace

TEST_CASE("remove_leftovers: those of ended processes only") {
  const TempDir dir;
  const pid_t ended = ended_process();
  write_file_atomically(dir / "step-000500", "x");  // takes number 0
  fs::create_directories(dir / text(".heed-tmp-", ended, "-0") / "inner");
  testing::write_text(dir / text(".heed-tmp-", ended, "-17"), "x");
  testing::write_text(dir / text(".heed-tmp-", ::getpid(), "-999999999"), "of a namesake");
  const std::string held = text(".heed-tmp-", ended, "-18");
  const std::string kept[] = {text(".heed-tmp-", ::getpid(), "-0"),
                              text(".heed-tmp-", ::getppid(), "-0"),
                              text(".heed-tmp-", ended),
                              text(".heed-tmp-", ended, "-1x"),
                              text(".tmp-", ended, "-1"),
                              "step-000500",
                              ".heed-tmp--1-1",
                              held};
  for (const std::string& name : kept) {
    testing::write_text(dir / name, "x");
  }
  // As a process of the same number on another machine holds it.
  const FileHandle other(::open((dir / held).c_str(), O_WRONLY));
  REQUIRE(::flock(other.get(), LOCK_EX) == 0);
  CHECK(remove_leftovers(dir.path()) == 3);
  CHECK(entries(dir.path()) == std::size(kept));
  CHECK(remove_leftovers(dir.path()) == 0);
  CHECK(remove_leftovers(dir / "none") == 0);
}

TEST_CASE("a write removes what a killed process has left next to it, and nothing in use") {
  const TempDir dir;
  const std::string ended = text(".heed-tmp-", ended_process());
  const auto leave = [&] {
    testing::write_text(dir / (ended + "-3"), "half a file");
    fs::create_directories(dir / (ended + "-4") / "half a folder");
  };
  leave();
  write_file_atomically(dir / "ids.bin", "x");
  CHECK(entries(dir.path()) == 1);
  leave();
  write_folder_atomically(dir / "model", [&](const fs::path& inside) {
    CHECK(entries(dir.path()) == 2);
    write_file_atomically(dir / "other.bin", "x");  // while the folder is being written
    CHECK(fs::exists(inside));
  });
  CHECK(entries(dir.path()) == 3);
}
