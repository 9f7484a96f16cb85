#include "train/parallel/launch.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string_view>
#include <thread>
#include <vector>

#include "autograd/base/error.h"
#include "autograd/base/real.h"
#include "train/parallel/company.h"
#include "train/parallel/mpi_communicator.h"

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

constexpr const char* launcher_names[] = {"mpirun",         "mpiexec",         "orterun",
                                          "orted",          "prterun",         "prted",
                                          "mpirun.openmpi", "mpiexec.openmpi", "mpirun.mpich",
                                          "mpiexec.mpich",  "mpiexec.hydra",   "hydra_pmi_proxy"};

// The parent of a process if it is a launcher, else 0.
pid_t launcher_above(pid_t process) {
  const auto file = [](pid_t id, const char* name) {
    return std::ifstream(text("/proc/", id, "/", name));
  };
  pid_t parent = 0;
  std::ifstream status = file(process, "status");
  for (std::string word; parent == 0 && status >> word;) {
    if (word == "PPid:") status >> parent;
  }
  std::string name;
  std::getline(file(parent, "comm"), name);
  const bool known = std::find(std::begin(launcher_names), std::end(launcher_names), name) !=
                     std::end(launcher_names);
  return known ? parent : 0;
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
  static const std::optional<Launch> launched = launch();
  static Communicator& ranks = launched ? load(*launched) : alone();
  return ranks;
}

std::filesystem::path library_file() {
  Dl_info info{};
  const int found = ::dladdr(reinterpret_cast<const void*>(&library_file), &info);
  require<Error>(found != 0 && info.dli_fname != nullptr, "cannot find the library of heed");
  return info.dli_fname;
}

void let_rank_0_speak() {
  constexpr std::chrono::seconds patience{4};
  const std::optional<Launch> launched = launch();
  if (!launched || launched->rank == 0) {
    return;
  }
  std::this_thread::sleep_for(patience);
  std::fprintf(stderr, "rank %d on %s:\n", launched->rank, host_name().c_str());
}

void end_launchers_soon() {
  constexpr timespec patience{4, 0};
  std::vector<pid_t> parents;
  for (pid_t above = launcher_above(::getpid()); above != 0; above = launcher_above(above)) {
    parents.push_back(above);
  }
  if (parents.empty() || ::fork() != 0) {
    return;
  }
  // Only system calls from here on, since other threads of the process may have held locks. The
  // descriptors go first: launchers wait until nobody can write to them any more.
  ::close_range(0, ~0U, 0);
  ::setsid();
  for (pid_t& parent : parents) {
    parent = static_cast<pid_t>(::syscall(SYS_pidfd_open, parent, 0));
  }
  ::nanosleep(&patience, nullptr);
  for (const int parent : parents) {
    ::syscall(SYS_pidfd_send_signal, parent, SIGKILL, nullptr, 0);
  }
  ::_exit(0);
}

}  // namespace heed
