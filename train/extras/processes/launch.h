// Whether a launcher (mpirun, mpiexec, srun) has started this process as one of several.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "train/extras/processes/communicator.h"

namespace heed {

// What a launcher says in the environment. Processes read it before they can talk to each other.
struct Launch {
  int rank = 0;
  std::optional<int> size;  // not every launcher tells
  std::string variable;     // where it stands: "OMPI_COMM_WORLD_RANK"
};
std::optional<Launch> launch();

// Connects to the other processes, after a launch(). Loads libheedgrad-mpi.so
// (libheedgrad-mpi-f64.so in float64) for it, which lies next to this library: heed itself needs no
// MPI. Throws IoError if it is missing or does not fit, Error if the launcher
// and this library belong to different MPIs. Connects once; further calls return the same.
Communicator& connect();

// The file of heed's library that this process runs.
std::filesystem::path library_file();

// After an error, before its message is printed. Rank 0 usually has the same error, prints it and
// ends all processes: this waits for that on other ranks. If it does not happen, says which rank
// the message is of. Does nothing on rank 0 or without a launcher.
void await_rank_0();

}  // namespace heed
