#include "train/run_folder.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "autograd/error.h"
#include "tests/support/temp_dir.h"

namespace fs = std::filesystem;
using namespace heed;
using heed::testing::TempDir;

namespace {

std::string content(const fs::path& path) { return read_file(path, 1 << 20); }

// Goes back to where the process was.
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
  try {
    RunFolder::create(out, "name");
  } catch (const E& error) {
    return error.what();
  }
  return "";
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
  CHECK(content("runs/toy-3") == "a file");
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
  CHECK(content(used + "/mine.txt") == "mine");
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
  RunFolder run = RunFolder::create(folder / "run", "name");
  run.write_config("seed: 1\n");
  run.log("first");
  run.log("second");
  run.sample("--- step 5\nto be");
  CHECK(content(run.config_file()) == "seed: 1\n");
  CHECK(content(run.path() / "log.txt") == "first\nsecond\n");
  CHECK(run.sample_bytes() == 16);

  RunFolder again = RunFolder::open(folder / "run");
  again.log("third");
  again.sample("\nor not");
  CHECK(content(run.path() / "log.txt") == "first\nsecond\nthird\n");
  CHECK(content(run.path() / "samples.txt") == "--- step 5\nto be\nor not");
  again.cut_samples(100);
  again.cut_samples(16);
  again.sample("!");
  CHECK(content(run.path() / "samples.txt") == "--- step 5\nto be!");
}

TEST_CASE("run_folder: going on needs a run") {
  TempDir folder;
  const auto open_error = [&](const std::string& name) -> std::string {
    try {
      RunFolder::open(folder / name);
    } catch (const IoError& error) {
      return std::string(error.what()).substr((folder / name).string().size());
    }
    return "";
  };
  fs::create_directory(folder / "empty");
  write_file_atomically(folder / "file", "");
  CHECK(open_error("none") == ": expected a run folder: No such file or directory");
  CHECK(open_error("file") == ": expected a run folder: not a folder");
  CHECK(open_error("empty") == ": expected a run folder: it has no config.yaml");
  CHECK(fs::is_empty(folder / "empty"));
}
