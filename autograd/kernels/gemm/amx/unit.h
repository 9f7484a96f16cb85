// AMX, the matrix unit of Intel's CPUs since Sapphire Rapids: whether this process may use it, and
// for which numbers.
#pragma once

#if defined(__AMX_BF16__) && defined(__AVX512DQ__) && defined(__linux__) && !defined(HEED_FLOAT64)
#define HEED_AMX
#endif

namespace heed::detail {

// What float32 numbers are split into, see amx_parts.h.
enum class AmxFormat { none, bfloat16, float16 };

// What products run on. `none` without HEED_AMX (in float64 and in builds for other CPUs), and
// where the operating system does not grant the unit. Else HEED_AMX in the environment says it: 0
// (none), bf16, fp16. By itself, float16 where the CPU announces AMX-FP16, or AVX10 and a trial
// runs: the two came with the same CPU, so a virtual machine that announces AVX10 is not moved to
// one without AMX-FP16, though some do not pass its bit on. Elsewhere bfloat16. Throws a
// ConfigError for another value, and for fp16 where float16_tiles_run() is false.
AmxFormat amx_format();

// Whether a product of float16 tiles runs here. Where CPUID does not announce it one is tried; the
// trial holds the process's handler of SIGILL for a moment.
bool float16_tiles_run();

}  // namespace heed::detail
