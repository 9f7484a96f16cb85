#include "autograd/threads/machine.h"

#include <sched.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <locale>
#include <set>

namespace heed {

namespace {

namespace fs = std::filesystem;

// A file of the system, whose numbers are read alike in any locale that a host program has set.
std::ifstream opened(const fs::path& path) {
  std::ifstream file(path);
  file.imbue(std::locale::classic());
  return file;
}

// The number that a file begins with; none for "max" and for a file that is not there.
std::optional<int64_t> leading_number(const fs::path& path) {
  int64_t value = 0;
  return opened(path) >> value ? std::optional(value) : std::nullopt;
}

// Value of `key` in a file of lines "key value" or "key: value kB".
std::optional<int64_t> keyed_number(const fs::path& path, const std::string& key) {
  std::ifstream file = opened(path);
  constexpr auto whole_line = std::numeric_limits<std::streamsize>::max();
  int64_t value = 0;
  for (std::string name; file >> name; file.ignore(whole_line, '\n')) {
    if (name == key && file >> value) {
      return value;
    }
  }
  return std::nullopt;
}

// A number of /proc/self/status, which gives it in kB.
int64_t status_bytes(const char* key) {
  return keyed_number("/proc/self/status", key).value_or(0) * 1024;
}

template <class T>
void tighten(std::optional<T>& limit, T value) {
  limit = limit ? std::min(*limit, value) : value;
}

// Lowers the limits to those of one group: its CPU quota, its memory limit, and how far it is below
// that limit.
void tighten_to(CgroupLimits& limits, const fs::path& folder) {
  double quota = 0, period = 0;  // "150000 100000" or "max 100000"
  if (opened(folder / "cpu.max") >> quota >> period && period > 0) {
    tighten(limits.cores, quota / period);
  }
  if (const auto limit = leading_number(folder / "memory.max")) {
    tighten(limits.memory, *limit);
    const auto used = leading_number(folder / "memory.current").value_or(0);
    const auto cache = keyed_number(folder / "memory.stat", "inactive_file").value_or(0);
    tighten(limits.memory_left, std::clamp<int64_t>(*limit - used + cache, 0, *limit));
  }
}

// One entry for every physical core that the affinity mask reaches, named by the lowest-numbered
// list of its hyper-threads.
int cores_in_affinity() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return static_cast<int>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
  }
  std::set<std::string> cores;
  for (int c = 0; c < CPU_SETSIZE; ++c) {
    if (CPU_ISSET(c, &allowed)) {
      const std::string number = std::to_string(c);
      std::string siblings = number;
      opened("/sys/devices/system/cpu/cpu" + number + "/topology/thread_siblings_list") >> siblings;
      cores.insert(siblings);
    }
  }
  return static_cast<int>(cores.size());
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    const bool named = line.starts_with("model name") || line.starts_with("Model");
    if (named && colon != std::string::npos && colon + 2 < line.size()) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

Simd simd_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return v4 ? Simd::avx512 : v3 ? Simd::avx2 : v2 ? Simd::sse4 : Simd::sse2;
#elif defined(__aarch64__)
  return Simd::neon;
#else
  return Simd::none;
#endif
}

}  // namespace

const char* simd_name(Simd simd) {
  constexpr std::array in_order{"none", "SSE2", "SSE4.2", "AVX2", "AVX-512", "NEON"};
  return in_order.at(static_cast<size_t>(simd));
}

Simd compiled_simd() {
#if defined(__AVX512F__)
  return Simd::avx512;
#elif defined(__AVX2__)
  return Simd::avx2;
#elif defined(__SSE2__)
  return Simd::sse2;
#elif defined(__ARM_NEON)
  return Simd::neon;
#else
  return Simd::none;
#endif
}

const Cpu& cpu() {
  static const Cpu found{cpu_model(), simd_level()};
  return found;
}

Memory memory() {
  const int64_t page = std::max<int64_t>(sysconf(_SC_PAGESIZE), 1);
  const int64_t total = std::max<int64_t>(sysconf(_SC_PHYS_PAGES), 0) * page;
  const auto free_kib = keyed_number("/proc/meminfo", "MemAvailable:");
  const CgroupLimits limits = cgroup_limits();
  Memory found{total, free_kib ? *free_kib * 1024 : total};
  found.total = std::min(found.total, limits.memory.value_or(found.total));
  found.available = std::min(found.available, limits.memory_left.value_or(found.available));
  found.available = std::min(found.available, found.total);
  return found;
}

int available_cores() {
  const double quota = cgroup_limits().cores.value_or(std::numeric_limits<int>::max());
  const int within_quota = static_cast<int>(std::max(std::floor(quota), 1.0));
  return std::max(std::min(cores_in_affinity(), within_quota), 1);
}

int requested_threads() {
  constexpr const char* spaces = " \t";
  int first = 0;
  for (const char* at = std::getenv("OMP_NUM_THREADS"); at != nullptr;) {
    at += std::strspn(at, spaces);
    char* end = nullptr;
    const unsigned long long number = *at >= '0' && *at <= '9' ? std::strtoull(at, &end, 10) : 0;
    if (number == 0) return 0;
    if (first == 0) first = static_cast<int>(std::min<unsigned long long>(number, most_threads));
    end += std::strspn(end, spaces);
    if (*end == '\0') return first;
    if (*end != ',') return 0;
    at = end + 1;
  }
  return 0;
}

std::string thread_number_warning() {
  const char* wish = std::getenv("OMP_NUM_THREADS");
  if (wish == nullptr || *wish == '\0' || requested_threads() > 0) {
    return "";
  }
  return "OMP_NUM_THREADS=" + std::string(wish) +
         " is ignored: expected a whole number above 0, or several with commas";
}

int default_threads() {
  const int requested = requested_threads();
  return requested > 0 ? requested : available_cores();
}

std::string wait_policy_warning() {
  const char* policy = std::getenv("OMP_WAIT_POLICY");
  if (policy == nullptr || strcasecmp(policy, "passive") != 0) {
    return "";
  }
  return "OMP_WAIT_POLICY=passive is set: threads sleep between loops, which makes a step of a "
         "small model 20 to 40% slower when nothing else runs";
}

// Version 2 has one line in /proc/self/cgroup, "0::/path of the group"; its limits are those of the
// group's folder and of every folder above it. Inside a container the path may be that of the host
// and lead nowhere; the mount point is then the group.
CgroupLimits cgroup_limits(const fs::path& root) {
  CgroupLimits limits;
  const fs::path mount = root / "sys/fs/cgroup";
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::")) {
      continue;
    }
    for (fs::path group = fs::path(line.substr(3)).relative_path(); !group.empty();
         group = group.parent_path()) {
      tighten_to(limits, mount / group);
    }
    tighten_to(limits, mount);
  }
  return limits;
}

int64_t resident_bytes() { return status_bytes("VmRSS:"); }

// ru_maxrss of getrusage is not used: after fork and exec it still counts the parent's memory (13
// MB became 628 MB when a Python process of 600 MB started the program).
int64_t peak_resident_bytes() { return status_bytes("VmHWM:"); }

}  // namespace heed
