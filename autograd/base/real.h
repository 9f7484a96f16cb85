// The scalar of the whole library. The same sources are compiled twice, into libheedgrad (float)
// and libheedgrad-f64 (double, with HEED_FLOAT64); one process uses one of the two.
#pragma once

#include <type_traits>

namespace heed {

#ifdef HEED_FLOAT64
using real = double;
#else
using real = float;
#endif

inline constexpr bool is_float64 = std::is_same_v<real, double>;
inline constexpr const char* precision_name = is_float64 ? "float64" : "float32";

// What a program was compiled against. The library compares it with itself at start-up.
struct BuildIdentity {
  const char* precision;
  const char* version;
};

// Ends the process, with a line that names both sides, if `program` has another precision or
// version than this library. This header calls it in every translation unit, so a mix never runs.
[[nodiscard]] bool require_same_build(const BuildIdentity& program) noexcept;

// Not in the library's own kernels: what is compiled for a wider CPU must not run at start-up.
#ifndef HEED_KERNEL_OBJECTS
namespace {
// One variable per translation unit, not an inline one: program and library would share that, and
// only the first of them to start would be checked.
[[maybe_unused]] const bool same_build = require_same_build({precision_name, HEED_VERSION});
}  // namespace
#endif

}  // namespace heed
