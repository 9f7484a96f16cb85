// The switches of a thread, which it changes between its operations. Other threads of the program
// have their own. Bodies of parallel loops, which may run on any thread, read none.
#pragma once

// In front of an inline thread_local variable: one for library, program and plugins together. Those
// that are compiled with -fvisibility=hidden would get one of their own, which the library never
// sees. initial-exec: reading it takes two instructions instead of a call. Small variables only:
// what a library that is loaded later may have of them together is bounded (1.6 kB in glibc).
#define HEED_ONE_PER_THREAD [[gnu::visibility("default"), gnu::tls_model("initial-exec")]]

namespace heed {

namespace detail {
HEED_ONE_PER_THREAD inline thread_local bool use_fused = true;
HEED_ONE_PER_THREAD inline thread_local bool dry_run_active = false;
}  // namespace detail

// A fused operation computes in one pass what its composed form computes with several operations.
// The composed form is the definition, and tests compare the two. set_fused(false) runs the
// composed forms instead.
inline bool fused() { return detail::use_fused; }
inline void set_fused(bool on) { detail::use_fused = on; }

// During a dry run (DryRun, autograd/array/storage.h) operations compute shapes but no numbers.
// Code outside parallel_for that reads or writes elements must skip them.
inline bool dry_run() { return detail::dry_run_active; }

}  // namespace heed
