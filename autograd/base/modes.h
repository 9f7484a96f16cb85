// The switches of a process. The engine is driven by one thread: that thread changes them between
// operations, and the bodies of parallel loops only read them.
#pragma once

// In front of an inline variable: one for the whole process. A program or plugin that is compiled
// with -fvisibility=hidden would get one of its own, which the library never sees.
#define HEED_ONE_PER_PROCESS [[gnu::visibility("default")]]

namespace heed {

namespace detail {
HEED_ONE_PER_PROCESS inline bool use_fused = true;
HEED_ONE_PER_PROCESS inline bool dry_run_active = false;
HEED_ONE_PER_PROCESS inline bool anomaly_mode_on = false;
HEED_ONE_PER_PROCESS inline bool loops_timed = false;  // a LoopTimes exists
}  // namespace detail

// A fused operation computes in one pass what its composed form computes with several operations.
// The composed form is the definition, and tests compare the two. set_fused(false) runs the
// composed forms instead.
inline bool fused() { return detail::use_fused; }
inline void set_fused(bool on) { detail::use_fused = on; }

// During a dry run (DryRun, autograd/array/storage.h) operations compute shapes but no numbers.
// Code outside parallel_for that reads or writes elements must skip them.
inline bool dry_run() { return detail::dry_run_active; }

// In anomaly mode (autograd/graph/anomaly.h) every value and gradient is checked for NaN and
// infinity as soon as it is computed.
inline bool anomaly_mode() { return detail::anomaly_mode_on; }
inline void set_anomaly_mode(bool on) { detail::anomaly_mode_on = on; }

// True while time is measured by operation (autograd/graph/profile.h).
HEED_ONE_PER_PROCESS inline bool profiling = false;

}  // namespace heed
