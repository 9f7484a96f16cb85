// Fused operations do in one pass what their composed twins do with several operations. The twin is
// the definition: tests hold the two together, and set_fused(false) runs it instead, to read, to
// teach and to compare.
#pragma once

namespace heed {

namespace detail {
inline bool use_fused = true;
}

inline bool fused() { return detail::use_fused; }
inline void set_fused(bool on) { detail::use_fused = on; }

}  // namespace heed
