#include "autograd/threads/machine.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "tests/support/variable.h"

namespace {

namespace fs = std::filesystem;

// A folder that stands for "/" while a test lasts.
class FakeRoot {
 public:
  explicit FakeRoot(const std::string& groups)
      : path_(fs::temp_directory_path() / ("heed-cpu-test-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    write("proc/self/cgroup", groups);
  }
  ~FakeRoot() { fs::remove_all(path_); }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  void write(const std::string& name, const std::string& content) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << content;
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("cpu: this machine") {
  const heed::Cpu& cpu = heed::cpu();
  CHECK_FALSE(cpu.model.empty());
  CHECK(std::string(heed::simd_name(cpu.simd)).size() > 1);
  CHECK(heed::available_cores() >= 1);
  const heed::Memory memory = heed::memory();
  CHECK(memory.available > 0);
  CHECK(memory.available <= memory.total);
}

TEST_CASE("cpu: OMP_NUM_THREADS wins, its first number counts") {
  const heed::testing::Variable threads("OMP_NUM_THREADS");
  for (const char* three : {"3", "3,2", " 3", "3 , 2 ", "\t3\t", "003,1,1"}) {
    threads.set(three);
    CHECK(heed::default_threads() == 3);
    CHECK(heed::requested_threads() == 3);
    CHECK(heed::thread_number_warning() == "");
  }
  for (const char* many : {"1000000", "99999999999999999999999"}) {
    threads.set(many);
    CHECK(heed::requested_threads() == heed::most_threads);
  }
}

TEST_CASE("cpu: OMP_NUM_THREADS that is no list of whole numbers is ignored, with a warning") {
  const heed::testing::Variable threads("OMP_NUM_THREADS");
  for (const char* nothing : {" ", "0", "-2", "+3", "many", "1e3", "2.5", "3 2", "3,", ",3", "3,0",
                              "4,x", "0x10", "3;2"}) {
    CAPTURE(nothing);
    threads.set(nothing);
    CHECK(heed::default_threads() == heed::available_cores());
    CHECK(heed::requested_threads() == 0);
    CHECK(heed::thread_number_warning() ==
          "OMP_NUM_THREADS=" + std::string(nothing) +
              " is ignored: expected a whole number above 0, or several with commas");
  }
  threads.set("");
  CHECK(heed::requested_threads() == 0);
  CHECK(heed::thread_number_warning() == "");
  threads.clear();
  CHECK(heed::thread_number_warning() == "");
}

TEST_CASE("cpu: OMP_WAIT_POLICY=passive is worth a warning, other policies are not") {
  const heed::testing::Variable policy("OMP_WAIT_POLICY");
  for (const char* passive : {"passive", "PASSIVE"}) {
    policy.set(passive);
    CHECK(heed::wait_policy_warning().starts_with("OMP_WAIT_POLICY=passive is set: "));
  }
  for (const char* other : {"", "active"}) {
    policy.set(other);
    CHECK(heed::wait_policy_warning() == "");
  }
  policy.clear();
  CHECK(heed::wait_policy_warning() == "");
}

TEST_CASE("cpu: limits of control groups, the tightest level counts") {
  const FakeRoot root("0::/outer/inner\n");
  root.write("sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
  root.write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  root.write("sys/fs/cgroup/outer/memory.max", "max\n");
  root.write("sys/fs/cgroup/outer/inner/memory.max", "1000000\n");
  root.write("sys/fs/cgroup/outer/inner/memory.current", "700000\n");
  root.write("sys/fs/cgroup/outer/inner/memory.stat", "anon 500000\ninactive_file 150000\n");
  const heed::CgroupLimits limits = heed::cgroup_limits(root.path());
  CHECK(limits.cores == 1.5);
  CHECK(limits.memory == 1000000);
  CHECK(limits.memory_left == 450000);
}

TEST_CASE("cpu: a container's group, under the path that it has on the host") {
  const FakeRoot root("4:memory:/docker/abc\n0::/docker/abc\n");
  root.write("sys/fs/cgroup/cpu.max", "400000 100000\n");
  root.write("sys/fs/cgroup/memory.max", "2000000\n");
  root.write("sys/fs/cgroup/memory.current", "500000\n");
  const heed::CgroupLimits limits = heed::cgroup_limits(root.path());
  CHECK(limits.cores == 4.0);
  CHECK(limits.memory == 2000000);
  CHECK(limits.memory_left == 1500000);
}

TEST_CASE("cpu: no limits, and no control groups") {
  const FakeRoot root("0::/\n");
  root.write("sys/fs/cgroup/cpu.max", "max 100000\n");
  root.write("sys/fs/cgroup/memory.max", "max\n");
  const heed::CgroupLimits limits = heed::cgroup_limits(root.path());
  CHECK_FALSE(limits.cores);
  CHECK_FALSE(limits.memory);
  CHECK_FALSE(heed::cgroup_limits(root.path() / "absent").cores);
}
