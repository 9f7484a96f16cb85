// AMX, the matrix unit of Intel's CPUs since Sapphire Rapids: whether this process may use it, and
// for which numbers.
#pragma once

// HEED_HAS_AMX: these are the objects with kernels on AMX (tools/cmake/kernels.cmake), for float32.
// With the CMake option HEED_AMX_EMULATION they run on every CPU, see instructions.h.

namespace heed::detail {

// The format that float32 numbers are split into, see parts.h.
enum class AmxFormat { none, bfloat16, float16 };

// True if products of tiles in this format run here: the build has HEED_HAS_AMX, the operating
// system grants the registers, and the CPU knows the instruction. Where CPUID does not announce
// AMX-FP16, one product is tried; the trial replaces the process's handler of SIGILL meanwhile.
bool amx_runs(AmxFormat format);

// True if the format is used by default, without HEED_KERNELS. False for the emulation. For float16
// the CPU must announce AMX-FP16, or it must announce AVX10 and pass the trial. Both appeared in
// the same CPU, and some virtual machines announce only AVX10. Such a machine cannot migrate to a
// CPU without AMX-FP16.
bool amx_preferred(AmxFormat format);

}  // namespace heed::detail
