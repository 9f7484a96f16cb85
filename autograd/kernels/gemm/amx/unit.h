// AMX, the matrix unit of Intel's CPUs since Sapphire Rapids: whether this process may use it, and
// for which numbers.
#pragma once

#if defined(__AMX_BF16__) && defined(__AVX512DQ__) && defined(__linux__) && !defined(HEED_FLOAT64)
#define HEED_HAS_AMX
#endif

namespace heed::detail {

// What float32 numbers are split into, see parts.h. `none`: no AMX.
enum class AmxFormat { none, bfloat16, float16 };

// True if this process may multiply tiles in that format: never without HEED_HAS_AMX (in float64
// and in builds for other CPUs), nor where the operating system does not grant the unit.
bool amx_bf16_available(bool forced);

// In float16 also only where the CPU announces AMX-FP16, or announces AVX10 and a trial runs: the
// two came with the same CPU, so a virtual machine that announces AVX10 is not moved to one without
// AMX-FP16, though some do not pass its bit on. When `forced`, a trial is made on every CPU. It
// holds the process's handler of SIGILL for a moment.
bool amx_fp16_available(bool forced);

}  // namespace heed::detail
