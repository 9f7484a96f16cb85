#include "autograd/threads/machine.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <set>
#include <sstream>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace heed {

namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The number a text begins with; empty for "max" and for a file that is not there.
std::optional<int64_t> leading_number(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// Value of `key` in a file of lines "key value" or "key: value kB".
std::optional<int64_t> keyed_number(const fs::path& path, const std::string& key) {
  std::ifstream file(path);
  std::string name;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    int64_t value = 0;
    if (words >> name >> value && name == key) {
      return value;
    }
  }
  return std::nullopt;
}

template <class T>
void tighten(std::optional<T>& limit, T value) {
  limit = limit ? std::min(*limit, value) : value;
}

// A memory limit, and how far below it the group is. Version 1 says "no limit" with a number near
// 2^63, so anything beyond 2^60 counts as none.
void tighten_memory(CgroupLimits& limits, const fs::path& folder, const char* limit_file,
                    const char* usage_file, const char* cache_key) {
  const auto limit = leading_number(first_line(folder / limit_file));
  if (!limit || *limit >= (int64_t{1} << 60)) {
    return;
  }
  tighten(limits.memory, *limit);
  const auto used = leading_number(first_line(folder / usage_file)).value_or(0);
  const auto cache = keyed_number(folder / "memory.stat", cache_key).value_or(0);
  tighten(limits.memory_left, std::clamp<int64_t>(*limit - used + cache, 0, *limit));
}

void tighten_v2(CgroupLimits& limits, const fs::path& folder) {
  std::istringstream words(first_line(folder / "cpu.max"));  // "150000 100000" or "max 100000"
  double quota = 0;
  double period = 0;
  if (words >> quota >> period && period > 0) {
    tighten(limits.cores, quota / period);
  }
  tighten_memory(limits, folder, "memory.max", "memory.current", "inactive_file");
}

void tighten_v1(CgroupLimits& limits, const fs::path& folder) {
  const auto quota = leading_number(first_line(folder / "cpu.cfs_quota_us"));  // -1: no limit
  const auto period = leading_number(first_line(folder / "cpu.cfs_period_us"));
  if (quota && period && *quota > 0 && *period > 0) {
    tighten(limits.cores, static_cast<double>(*quota) / static_cast<double>(*period));
  }
  tighten_memory(limits, folder, "memory.limit_in_bytes", "memory.usage_in_bytes",
                 "total_inactive_file");
}

// Calls visit(folder) for the group's folder and every one above it up to the mount point. Inside a
// container the path may be that of the host and lead nowhere; the mount point is then the group.
template <class Visit>
void each_level(const fs::path& mount, const fs::path& group, Visit&& visit) {
  for (fs::path relative = group.relative_path(); !relative.empty();
       relative = relative.parent_path()) {
    visit(mount / relative);
  }
  visit(mount);
}

#ifdef __linux__

// One entry for every physical core that the affinity mask reaches, named by the lowest-numbered
// list of its hyper-threads.
int cores_in_affinity() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return static_cast<int>(std::thread::hardware_concurrency());
  }
  std::set<std::string> cores;
  for (int c = 0; c < CPU_SETSIZE; ++c) {
    if (CPU_ISSET(c, &allowed)) {
      const std::string number = std::to_string(c);
      const std::string siblings =
          first_line("/sys/devices/system/cpu/cpu" + number + "/topology/thread_siblings_list");
      cores.insert(siblings.empty() ? number : siblings);
    }
  }
  return static_cast<int>(cores.size());
}

#else

int cores_in_affinity() { return static_cast<int>(std::thread::hardware_concurrency()); }

#endif

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
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return Simd::avx512;
  }
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? Simd::avx2 : Simd::sse2;
#elif defined(__aarch64__)
  return Simd::neon;
#else
  return Simd::none;
#endif
}

int64_t cache_bytes([[maybe_unused]] int level) {
#ifdef _SC_LEVEL1_DCACHE_SIZE
  const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  return std::max<int64_t>(sysconf(names[level - 1]), 0);
#else
  return 0;
#endif
}

}  // namespace

const char* simd_name(Simd simd) {
  switch (simd) {
    case Simd::sse2:
      return "SSE2";
    case Simd::avx2:
      return "AVX2";
    case Simd::avx512:
      return "AVX-512";
    case Simd::neon:
      return "NEON";
    case Simd::none:
      break;
  }
  return "none";
}

const Cpu& cpu() {
  static const Cpu found{cpu_model(), simd_level(), cache_bytes(1), cache_bytes(2), cache_bytes(3)};
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

#ifdef __linux__

int current_cpu() { return sched_getcpu(); }

bool some_cpu_idle() {
  // "0.20 0.18 0.12 1/80 11206": the fourth is what is ready to run on the whole machine.
  std::ifstream file("/proc/loadavg");
  double average = 0;
  long ready = 0;
  return file >> average >> average >> average >> ready && ready <= sysconf(_SC_NPROCESSORS_ONLN);
}

namespace {

// Puts this thread on one of the CPUs it may run on for which wanted(cpu) holds, if there is one.
template <class Wanted>
void move_to(Wanted&& wanted) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return;
  }
  cpu_set_t targets = allowed;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!wanted(cpu)) {
      CPU_CLR(cpu, &targets);
    }
  }
  if (CPU_COUNT(&targets) > 0 && sched_setaffinity(0, sizeof targets, &targets) == 0) {
    sched_setaffinity(0, sizeof allowed, &allowed);
  }
}

}  // namespace

void leave_cpu(int cpu) {
  move_to([=](int other) { return other != cpu; });
}

void join_cpu(int cpu) {
  move_to([=](int other) { return other == cpu; });
}

#else

int current_cpu() { return -1; }

bool some_cpu_idle() { return false; }

void leave_cpu(int) {}

void join_cpu(int) {}

#endif

int available_cores() {
  const double quota = cgroup_limits().cores.value_or(std::numeric_limits<int>::max());
  const int within_quota = static_cast<int>(std::max(std::floor(quota), 1.0));
  return std::max(std::min(cores_in_affinity(), within_quota), 1);
}

int default_threads() {
  const char* wish = std::getenv("OMP_NUM_THREADS");
  const int64_t number = wish != nullptr ? leading_number(wish).value_or(0) : 0;
  return number > 0 ? static_cast<int>(std::min<int64_t>(number, 1024)) : available_cores();
}

CgroupLimits cgroup_limits(const fs::path& root) {
  CgroupLimits limits;
  const fs::path mount = root / "sys/fs/cgroup";
  std::ifstream groups(root / "proc/self/cgroup");  // lines "4:memory:/path", version 2 "0::/path"
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      const auto tighten_level = [&](const fs::path& folder) { tighten_v2(limits, folder); };
      each_level(mount, group, tighten_level);
      each_level(mount / "unified", group, tighten_level);
      continue;
    }
    std::istringstream names(controllers);
    for (std::string name; std::getline(names, name, ',');) {
      if (name == "cpu" || name == "memory") {
        const auto tighten_level = [&](const fs::path& folder) { tighten_v1(limits, folder); };
        each_level(mount / controllers, group, tighten_level);
        each_level(mount / name, group, tighten_level);
      }
    }
  }
  return limits;
}

namespace {

// The number behind a key of /proc/self/status, in kB there.
int64_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kilobytes = 0;
    if (word == key && status >> kilobytes) {
      return kilobytes * 1024;
    }
  }
  return 0;
}

}  // namespace

int64_t resident_bytes() { return status_bytes("VmRSS:"); }
int64_t peak_resident_bytes() { return status_bytes("VmHWM:"); }

}  // namespace heed
