// Ends mpirun when a host has vanished.
#pragma once

namespace heed {

// mpirun waits for its daemon on a host that has vanished as long as TCP does, a quarter of an
// hour. Interrupts mpirun as Ctrl-C does, if it has started this process on its own host, until it
// gives up and returns 1. Kills it, and the daemon that has started this process, if they are still
// there after 5 seconds. The caller exits after this call, which takes a second.
void end_launchers();

}  // namespace heed
