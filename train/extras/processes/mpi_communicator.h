// What libheedgrad-mpi.so exports. It alone is linked with MPI.
#pragma once

#include "train/extras/processes/communicator.h"

namespace heed {

// "heed_mpi_connect": starts MPI. The communicator lives until the process ends.
using MpiConnect = Communicator* (*)();

}  // namespace heed

extern "C" {
[[gnu::visibility("default")]] heed::Communicator* heed_mpi_connect();
[[gnu::visibility("default")]] extern const char heed_mpi_build[];  // HEED_VERSION
}
