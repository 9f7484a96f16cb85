#include "autograd/kernels/gemm/amx/unit.h"

#ifndef HEED_AMX_EMULATION

#include <cpuid.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>

#include "autograd/kernels/gemm/amx/tiles.h"

namespace heed::detail {

namespace {

// Linux grants the tile registers, 8 KB, to processes that request them.
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

// State of the trial. float16_runs() allows one at a time.
sigjmp_buf before_trial;
pthread_t trying_thread;
struct sigaction before_ours;

// If another thread meets an unknown instruction during the trial, this restores the program's own
// handler and returns: the instruction runs again and reaches that handler.
void end_trial(int) {
  if (pthread_equal(pthread_self(), trying_thread) != 0) {
    siglongjmp(before_trial, 1);
  }
  sigaction(SIGILL, &before_ours, nullptr);
}

bool try_float16_tiles() {
  const TileRegisters registers;
  trying_thread = pthread_self();
  struct sigaction ours {};
  ours.sa_handler = end_trial;
  sigaction(SIGILL, &ours, &before_ours);
  const bool ran = sigsetjmp(before_trial, 1) == 0 && (add_float16_products(), true);
  sigaction(SIGILL, &before_ours, nullptr);
  return ran;
}

bool float16_runs() {
  static const bool runs = tiles_granted() && (announced().amx_fp16 || try_float16_tiles());
  return runs;
}

}  // namespace

bool amx_runs(AmxFormat format) {
  return format == AmxFormat::float16 ? float16_runs()
                                      : format == AmxFormat::bfloat16 && tiles_granted();
}

bool amx_preferred(AmxFormat format) {
  const bool announces_float16 = announced().amx_fp16 || announced().avx10;
  return amx_runs(AmxFormat::bfloat16) &&
         (format != AmxFormat::float16 || (announces_float16 && float16_runs()));
}

}  // namespace heed::detail

#else

namespace heed::detail {

bool amx_runs(AmxFormat format) { return format != AmxFormat::none; }
bool amx_preferred(AmxFormat) { return false; }

}  // namespace heed::detail

#endif
