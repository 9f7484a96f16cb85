#include "train/run/run_folder.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "autograd/base/error.h"
#include "tests/support/errors.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace fs = std::filesystem;
using namespace heed;
using namespace heed::testing;

namespace {

// Restores the current working directory.
class WorkingFolder {
 public:
  explicit WorkingFolder(const fs::path& folder) : before_(fs::current_path()) {
    fs::current_path(folder);
  }
  ~WorkingFolder() { fs::current_path(before_); }

 private:
  fs::path before_;
};

template <class E>
std::string refused(const fs::path& out) {
  return message_of<E>([&] { RunFolder::create(out, "name"); });
}

}  // namespace

TEST_CASE("run_folder: runs/<name>, then -2, -3") {
  TempDir folder;
  const WorkingFolder inside(folder.path());
  CHECK(RunFolder::create({}, "toy").path() == "runs/toy");
  CHECK(RunFolder::create({}, "toy").path() == "runs/toy-2");
  CHECK(RunFolder::create({}, "other").path() == "runs/other");
  write_file_atomically("runs/toy-3", "a file");
  CHECK(RunFolder::create({}, "toy").path() == "runs/toy-4");
  CHECK(read_text("runs/toy-3") == "a file");
  CHECK(fs::is_directory(folder / "runs/toy-4"));
}

TEST_CASE("run_folder: threads that ask at the same time get different ones") {
  TempDir folder;
  const WorkingFolder inside(folder.path());
  std::vector<fs::path> taken(16);
  std::vector<std::thread> threads;
  for (fs::path& path : taken) {
    threads.emplace_back([&path] { path = RunFolder::create({}, "toy").path(); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(std::set<fs::path>(taken.begin(), taken.end()).size() == 16);
  CHECK(fs::is_directory("runs/toy-16"));
}

TEST_CASE("run_folder: --out new, empty or with parents to make") {
  TempDir folder;
  CHECK(RunFolder::create(folder / "new", "name").path() == folder / "new");
  fs::create_directory(folder / "empty");
  CHECK(RunFolder::create(folder / "empty/", "name").path() == folder / "empty");
  CHECK(RunFolder::create(folder / "a/b/c", "name").path() == folder / "a/b/c");
  CHECK(fs::exists(folder / "a/b/c/log.txt"));
}

TEST_CASE("run_folder: --out that is in use is left alone") {
  TempDir folder;
  const std::string used = (folder / "used").string();
  fs::create_directory(used);
  write_file_atomically(used + "/mine.txt", "mine");
  CHECK(refused<ConfigError>(used) ==
        "--out " + used + ": exists and is not empty; give another folder");
  write_file_atomically(used + "/config.yaml", "seed: 1");
  CHECK(refused<ConfigError>(used) == "--out " + used +
                                          ": exists and is not empty; give another folder, or go "
                                          "on with that run: --resume " +
                                          used);
  CHECK(refused<ConfigError>(used + "/mine.txt") ==
        "--out " + used + "/mine.txt: exists and is not a folder");
  CHECK(read_text(used + "/mine.txt") == "mine");
  CHECK(!fs::exists(used + "/log.txt"));
}

TEST_CASE("run_folder: a folder that cannot be made or written") {
  TempDir folder;
  write_file_atomically(folder / "file", "");
  CHECK(refused<IoError>(folder / "file/run").find("cannot make the folder") != std::string::npos);
  CHECK(refused<IoError>("/proc/run").find("/proc/run: cannot make the folder") == 0);
  if (::geteuid() != 0) {
    fs::create_directory(folder / "locked");
    ::chmod((folder / "locked").c_str(), 0555);
    CHECK(refused<IoError>(folder / "locked").find("cannot write into the folder") !=
          std::string::npos);
    CHECK(refused<IoError>(folder / "locked/run").find("cannot make the folder") !=
          std::string::npos);
  }
}

TEST_CASE("run_folder: its files") {
  TempDir folder;
  const fs::path path = folder / "run";
  {
    RunFolder run = RunFolder::create(path, "name");
    run.write_config("seed: 1\n");
    run.log("first");
    run.log("second");
    run.sample("--- step 5\nto be");
    CHECK(read_text(path / "config.yaml") == "seed: 1\n");
    CHECK(read_text(path / "log.txt") == "first\nsecond\n");
    CHECK(run.sample_bytes() == 16);
  }
  fs::create_directory(path / ".heed-tmp-999999999-3");  // left by a killed process
  RunFolder again = RunFolder::open(path);
  CHECK(!fs::exists(path / ".heed-tmp-999999999-3"));
  again.log("third");
  again.sample("\nor not");
  CHECK(read_text(path / "log.txt") == "first\nsecond\nthird\n");
  CHECK(read_text(path / "samples.txt") == "--- step 5\nto be\nor not");
  again.cut_samples(100);
  again.cut_samples(16);
  again.sample("!");
  CHECK(read_text(path / "samples.txt") == "--- step 5\nto be!");
}

TEST_CASE("run_folder: one process at a time, which is named; the lock of one that ended is free") {
  TempDir folder;
  const std::string path = (folder / "run").string();
  const auto refusal = [&] { return message_of<IoError>([&] { RunFolder::open(path); }); };
  {
    RunFolder run = RunFolder::create(path, "name");
    run.write_config("seed: 1\n");
    const std::string message = refusal();
    CHECK(message.starts_with(text(path, ": process ", ::getpid(), " on ")));
    CHECK(message.ends_with(" is training in this folder; wait for its end, or stop it"));
  }
  CHECK(read_text(path + "/.lock").starts_with("process "));
  CHECK(refusal() == "no error");

  // A process that is killed while it holds the lock.
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const RunFolder run = RunFolder::open(path);
    [[maybe_unused]] const ssize_t told = ::write(ready[1], "!", 1);
    ::pause();
    ::_exit(0);
  }
  char word = 0;
  REQUIRE(::read(ready[0], &word, 1) == 1);
  ::close(ready[0]);
  ::close(ready[1]);
  CHECK(refusal().starts_with(text(path, ": process ", child, " on ")));
  ::kill(child, SIGKILL);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  CHECK(refusal() == "no error");
}

TEST_CASE("run_folder: one that vanishes is noticed at the next line") {
  TempDir folder;
  RunFolder run = RunFolder::create(folder / "run", "name");
  run.log("first");
  fs::remove_all(folder / "run");
  CHECK_THROWS_WITH_AS(run.log("second"),
                       doctest::Contains("log.txt: cannot write: it was removed while the run was "
                                         "writing it"),
                       IoError);
}

TEST_CASE("run_folder: going on needs a run") {
  TempDir folder;
  const auto open_error = [&](const std::string& name) {
    return message_of<IoError>([&] { RunFolder::open(folder / name); })
        .substr((folder / name).string().size());
  };
  fs::create_directory(folder / "empty");
  write_file_atomically(folder / "file", "");
  CHECK(open_error("none") == ": expected a run folder: No such file or directory");
  CHECK(open_error("file") == ": expected a run folder: not a folder");
  CHECK(open_error("empty") == ": expected a run folder: it has no config.yaml");
  CHECK(fs::is_empty(folder / "empty"));
}

TEST_CASE("run_folder: no link in a run is written through, the run itself may be one") {
  TempDir folder;
  const fs::path path = folder / "run", outside = folder / "outside";
  RunFolder::create(path, "name").write_config("seed: 1\n");
  fs::create_directory(folder / "other");
  write_text(outside, "mine");
  const std::string before = read_text(path / ".lock");
  for (const char* name : {"config.yaml", "metrics.csv", "log.txt", "samples.txt", ".lock",
                           "report.json", "report.html", "checkpoints"}) {
    const bool there = fs::exists(path / name);
    if (there) fs::rename(path / name, folder / "aside");
    fs::create_symlink(name == std::string("checkpoints") ? folder / "other" : outside,
                       path / name);
    CHECK_THROWS_WITH_AS(RunFolder::open(path),
                         doctest::Contains(text("/run/", name, ": is a symbolic link").c_str()),
                         IoError);
    fs::remove(path / name);
    if (there) fs::rename(folder / "aside", path / name);
    CHECK(read_text(path / ".lock") == before);  // refused before anything was changed
  }
  CHECK(read_text(outside) == "mine");
  fs::create_directory_symlink(path, folder / "link");
  RunFolder::open(folder / "link").log("by its other name");
  CHECK(read_text(path / "log.txt") == "by its other name\n");
}

TEST_CASE("run_folder: a link that appears later is refused by each write") {
  TempDir folder;
  const fs::path path = folder / "run", outside = folder / "outside";
  const RunFolder run = RunFolder::create(path, "name");
  write_text(outside, "mine");
  fs::create_symlink(outside, path / "config.yaml");
  fs::create_symlink(outside, path / "metrics.csv");
  CHECK_THROWS_WITH_AS(run.write_config("seed: 1\n"), doctest::Contains("is a symbolic link"),
                       IoError);
  CHECK_THROWS_WITH_AS(AppendFile(path / "metrics.csv"), doctest::Contains("is a symbolic link"),
                       IoError);
  CHECK(read_text(outside) == "mine");
}
