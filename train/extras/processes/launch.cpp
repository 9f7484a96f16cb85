#include "train/extras/processes/launch.h"

#include <dlfcn.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "autograd/base/error.h"
#include "autograd/base/real.h"
#include "train/extras/processes/hosts.h"
#include "train/extras/processes/mpi_communicator.h"

namespace heed {

namespace {

struct Variables {
  const char *rank, *size;
};
// Open MPI; MPICH and Intel MPI, also by srun --mpi=pmi2; whatever uses PMIx, such as srun.
constexpr Variables launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                   {"PMI_RANK", "PMI_SIZE"},
                                   {"PMIX_RANK", nullptr}};

std::optional<int> number_in(const char* variable) {
  const char* const value = variable != nullptr ? std::getenv(variable) : nullptr;
  if (value == nullptr) {
    return std::nullopt;
  }
  const std::string_view digits(value);
  int number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  return error == std::errc() && end == digits.end() && number >= 0 ? std::optional(number)
                                                                    : std::nullopt;
}

constexpr const char* library = is_float64 ? "libheedgrad-mpi-f64.so" : "libheedgrad-mpi.so";

Communicator& load(const Launch& launched) {
  void* const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = ::dlerror();
    fail<IoError>(launched.variable, " is set, so this is one of several processes, but ", library,
                  " cannot be loaded: ", reason != nullptr ? reason : "no reason",
                  "; install MPI (Debian: libopenmpi-dev) and build heedgrad again, or start heed "
                  "without a launcher");
  }
  const auto* const build = static_cast<const char*>(::dlsym(handle, "heed_mpi_build"));
  const auto function = reinterpret_cast<MpiConnect>(::dlsym(handle, "heed_mpi_connect"));
  require<IoError>(build != nullptr && function != nullptr && build == std::string(HEED_VERSION),
                   library, ": expected that of heedgrad ", HEED_VERSION, ", got ",
                   build != nullptr ? build : "another library");
  Communicator& ranks = *function();
  require<Error>(!launched.size || *launched.size == ranks.size(), "the launcher has started ",
                 launched.size.value_or(0), " processes, but MPI knows of ", ranks.size(),
                 ": mpirun and ", library,
                 " belong to different MPIs; use the mpirun of the one "
                 "that heedgrad was built with");
  return ranks;
}

}  // namespace

std::optional<Launch> launch() {
  for (const Variables& variables : launchers) {
    if (const std::optional<int> rank = number_in(variables.rank)) {
      return Launch{*rank, number_in(variables.size), variables.rank};
    }
  }
  return std::nullopt;
}

Communicator& connect() {
  static Communicator& ranks = load(launch().value());
  return ranks;
}

std::filesystem::path library_file() {
  Dl_info info{};
  const int found = ::dladdr(reinterpret_cast<const void*>(&library_file), &info);
  require<Error>(found != 0 && info.dli_fname != nullptr, "cannot find the library of heed");
  return info.dli_fname;
}

void await_rank_0() {
  constexpr std::chrono::seconds patience{4};
  const std::optional<Launch> launched = launch();
  if (!launched || launched->rank == 0) {
    return;
  }
  std::this_thread::sleep_for(patience);
  std::fprintf(stderr, "rank %d on %s:\n", launched->rank, host_name().c_str());
}

}  // namespace heed
