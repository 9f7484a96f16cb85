// What this machine has to offer to this process: cores, memory, vector units.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace heed {

// Widest vector unit that the CPU and the operating system offer; neon stands for any 64-bit Arm.
// sse4, avx2 and avx512 are x86-64's levels v2, v3 and v4.
enum class Simd { none, sse2, sse4, avx2, avx512, neon };

struct Cpu {
  std::string model;  // "AMD EPYC", or "unknown"
  Simd simd;
};

struct Memory {
  int64_t total;      // bytes: physical memory, or the cgroup's limit when that is lower
  int64_t available;  // bytes: what can be taken now without swapping; never above total
};

// Limits of the control groups (version 2) that this process is in, the tightest of all levels.
struct CgroupLimits {
  std::optional<double> cores;         // CPU quota
  std::optional<int64_t> memory;       // bytes
  std::optional<int64_t> memory_left;  // bytes; page cache that can be dropped counts as left
};

const char* simd_name(Simd simd);  // "AVX-512", "AVX2", "SSE4.2", "SSE2", "NEON", "none"

// The widest vector unit that the library was compiled for; kernels/choice.h may have wider ones.
Simd compiled_simd();
const Cpu& cpu();  // looked up once
Memory memory();   // looked up at every call

// Memory of this process in bytes: now, and the most it ever had; 0 when the system does not tell.
int64_t resident_bytes();
int64_t peak_resident_bytes();

// Physical cores within the affinity mask and the cgroup quota (rounded down), at least 1.
int available_cores();

inline constexpr int most_threads = 1024;

// The first number of OMP_NUM_THREADS, at most most_threads. 0 unless that is a list of whole
// numbers above 0.
int requested_threads();

// One line for people when OMP_NUM_THREADS is set to something else, which is ignored; else "".
std::string thread_number_warning();

// requested_threads() when that is not 0, else available_cores().
int default_threads();

// One line for people when OMP_WAIT_POLICY=passive is set, which makes small models slow, else "".
std::string wait_policy_warning();

// Reads <root>/proc/self/cgroup and <root>/sys/fs/cgroup; tests give another root.
CgroupLimits cgroup_limits(const std::filesystem::path& root = "/");

}  // namespace heed
