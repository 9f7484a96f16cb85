// A build for this machine's CPU ends with one sentence on an older one, instead of an illegal
// instruction. This file alone is compiled for every CPU, and it runs before the constructors of
// the libraries.
#include <unistd.h>

#include <string_view>

namespace {

#if HEED_BUILT_FOR == 512
constexpr std::string_view needed = "AVX-512";
bool has_what_is_needed() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#else
constexpr std::string_view needed = "AVX2";
bool has_what_is_needed() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
}
#endif

void print(std::string_view text) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

void check_cpu() {
  __builtin_cpu_init();
  if (!has_what_is_needed()) {
    print("heed: this program was built for CPUs with ");
    print(needed);
    print(", which this one lacks; build it on this machine, or with the preset portable\n");
    _exit(1);
  }
}

// The loader calls what is in this section of a program before any constructor.
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_constructors)() = check_cpu;

}  // namespace
