// Fewer threads for a loop while other programs keep cores busy. README.md says why, and what it is
// worth.
#pragma once

namespace heed {

// CPU time in seconds: of all processes of the machine that are not niced, and of this process. The
// difference of two calls gives the number of CPUs that other programs keep busy.
struct CpuTime {
  double machine = 0;  // 0 when the system does not tell
  double process = 0;
};
CpuTime cpu_time();

// How many of `threads` are worth using while other programs leave `free_cpus` CPUs free. One for
// each waits for nobody. Half of the threads is this program's fair share next to others that could
// use all cores.
int threads_beside(int free_cpus, int threads);

}  // namespace heed
