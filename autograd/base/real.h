// The scalar of the whole library. The same sources are compiled twice, into libheedgrad (float)
// and libheedgrad-f64 (double, with HEED_FLOAT64); one process uses one of the two.
#pragma once

#include <cstdint>
#include <type_traits>

namespace heed {

#ifdef HEED_FLOAT64
using real = double;
#else
using real = float;
#endif

inline constexpr bool is_float64 = std::is_same_v<real, double>;
inline constexpr const char* precision_name = is_float64 ? "float64" : "float32";

// What a program was compiled against; the library compares it with itself at start-up.
struct BuildIdentity {
  const char* precision;
  const char* version;
};

// Ends the process with one line that names both sides when `program` is not this library's
// precision and version. Every header of the engine asks, so a mix of the two never runs.
[[nodiscard]] bool require_same_build(const BuildIdentity& program) noexcept;

namespace {
// One per translation unit, on purpose: a shared inline variable would be initialised by whichever
// of program and library comes first, and only that one would be checked.
[[maybe_unused]] const bool same_build = require_same_build({precision_name, HEED_VERSION});
}  // namespace

}  // namespace heed
