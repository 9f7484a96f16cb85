// AMX, the matrix unit of Intel's CPUs since Sapphire Rapids: whether this process may use it, and
// for which numbers.
#pragma once

// HEED_HAS_AMX: kernels on AMX are compiled in, for float32. With the CMake option
// HEED_AMX_EMULATION they run on every CPU, see instructions.h.
#if !defined(HEED_FLOAT64) &&       \
    (defined(HEED_AMX_EMULATION) || \
     (defined(__AMX_BF16__) && defined(__AVX512DQ__) && defined(__linux__)))
#define HEED_HAS_AMX
#endif

namespace heed::detail {

// What float32 numbers are split into, see parts.h.
enum class AmxFormat { none, bfloat16, float16 };

inline constexpr bool amx_emulated =
#if defined(HEED_HAS_AMX) && defined(HEED_AMX_EMULATION)
    true;
#else
    false;
#endif

// True if products of tiles in this format run here: the build has HEED_HAS_AMX, the operating
// system grants the registers, and the CPU knows the instruction. Where CPUID does not announce
// AMX-FP16, one product is tried; the trial replaces the process's handler of SIGILL meanwhile.
bool amx_runs(AmxFormat format);

// True if the format is used without being asked for. False for the emulation. float16 needs an
// announcement: of AMX-FP16, or of AVX10 and a successful trial. The same CPU brought both, and
// some virtual machines announce only AVX10; they cannot migrate to a CPU without AMX-FP16.
bool amx_preferred(AmxFormat format);

// As choice.h wants it: `forced` by HEED_KERNELS, or by itself.
bool amx_bf16_available(bool forced);
bool amx_fp16_available(bool forced);

}  // namespace heed::detail
