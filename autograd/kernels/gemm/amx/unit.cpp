#include "autograd/kernels/gemm/amx/unit.h"

#ifdef HEED_AMX

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "autograd/base/error.h"
#include "autograd/kernels/gemm/amx/tiles.h"

namespace heed::detail {

namespace {

// Linux keeps the registers' 8 KB for processes that ask for them.
bool tiles_granted() {
  constexpr long request_permission = 0x1023, tile_data = 18;
  static const bool granted = syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  return granted;
}

struct Announced {
  Announced() {
    constexpr unsigned features = 7, second_page = 1;
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (__get_cpuid_count(features, second_page, &eax, &ebx, &ecx, &edx) != 0) {
      amx_fp16 = (eax >> 21 & 1) != 0;
      avx10 = (edx >> 19 & 1) != 0;
    }
  }
  bool amx_fp16 = false, avx10 = false;
};

const Announced& announced() {
  static const Announced by_cpu;
  return by_cpu;
}

sigjmp_buf before_trial;

bool try_float16_tiles() {
  const TileRegisters registers;
  struct sigaction ours {
  }, theirs{};
  ours.sa_handler = [](int) { siglongjmp(before_trial, 1); };
  sigaction(SIGILL, &ours, &theirs);
  const bool ran = sigsetjmp(before_trial, 1) == 0 && (Float16x2::multiply_tiles(), true);
  sigaction(SIGILL, &theirs, nullptr);
  return ran;
}

AmxFormat choose_format() {
  const char* wish = std::getenv("HEED_AMX");
  const std::string_view format = wish == nullptr || *wish == '\0' ? "1" : wish;
  if (format != "0" && format != "1" && format != "bf16" && format != "fp16") {
    throw ConfigError(text("HEED_AMX: expected 0, 1, bf16 or fp16, got \"", format, "\""));
  }
  if (format == "fp16") {
    if (!float16_tiles_run()) {
      throw ConfigError("HEED_AMX=fp16: the AMX of this CPU does not multiply float16");
    }
    return AmxFormat::float16;
  }
  if (format == "0" || !tiles_granted()) {
    return AmxFormat::none;
  }
  const bool expected = announced().amx_fp16 || announced().avx10;
  return format == "1" && expected && float16_tiles_run() ? AmxFormat::float16
                                                          : AmxFormat::bfloat16;
}

}  // namespace

AmxFormat amx_format() {
  static const AmxFormat format = choose_format();
  return format;
}

bool float16_tiles_run() {
  static const bool run = tiles_granted() && (announced().amx_fp16 || try_float16_tiles());
  return run;
}

}  // namespace heed::detail

#else

namespace heed::detail {

AmxFormat amx_format() { return AmxFormat::none; }
bool float16_tiles_run() { return false; }

}  // namespace heed::detail

#endif
