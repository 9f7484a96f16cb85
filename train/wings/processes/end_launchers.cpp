#include "train/wings/processes/end_launchers.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <fstream>
#include <locale>
#include <string>
#include <vector>

#include "autograd/base/error.h"

namespace heed {

namespace {

// Of Open MPI, PRRTE and MPICH, with the names that Debian gives them.
constexpr const char* starters[] = {"mpirun",        "mpiexec",        "orterun",
                                    "prterun",       "mpirun.openmpi", "mpirun.mpich",
                                    "mpiexec.mpich", "mpiexec.hydra",  "mpiexec.openmpi"};
// What they start on each host.
constexpr const char* daemons[] = {"orted", "prted", "hydra_pmi_proxy"};

struct Launcher {
  pid_t id = 0;
  bool is_daemon = false;
};

// 0 if there is none, or none that this process may see.
pid_t parent_of(pid_t process) {
  std::ifstream status(text("/proc/", process, "/status"));
  status.imbue(std::locale::classic());
  for (std::string word; status >> word;) {
    if (pid_t parent = 0; word == "PPid:" && status >> parent) return parent;
  }
  return 0;
}

// From the nearest to mpirun. A script that mpirun has started may be between.
std::vector<Launcher> launchers_above() {
  std::vector<Launcher> found;
  for (pid_t above = parent_of(::getpid()); above > 0; above = parent_of(above)) {
    std::string name;
    std::getline(std::ifstream(text("/proc/", above, "/comm")), name);
    const auto is_in = [&](const auto& names) {
      return std::find(std::begin(names), std::end(names), name) != std::end(names);
    };
    if (is_in(starters) || is_in(daemons)) {
      found.push_back({above, is_in(daemons)});
    } else if (!found.empty()) {
      break;
    }
  }
  return found;
}

}  // namespace

// Open MPI 4 gives up at the second interrupt, if it comes within 5 seconds and no process has
// failed before the first one; after a failure it crashes. So the first one is sent before this
// process ends. MPICH gives up at the second as well, PRRTE (Open MPI 5) at the third. Daemons are
// not interrupted: they still have to pass on what this process has printed.
void end_launchers() {
  constexpr timespec second{1, 0}, to_end_others{3, 0};
  std::signal(SIGINT, SIG_IGN);  // mpirun passes them on to this process
  std::signal(SIGTERM, SIG_IGN);
  std::vector<Launcher> launchers = launchers_above();
  for (const Launcher& launcher : launchers) {
    if (!launcher.is_daemon) ::kill(launcher.id, SIGINT);
  }
  if (launchers.empty() || ::fork() != 0) {
    ::nanosleep(&second, nullptr);
    return;
  }
  // Only system calls from here on, since other threads of the process may have held locks. The
  // descriptors go first: launchers wait until nobody can write to them any more.
  ::close_range(0, ~0U, 0);
  ::setsid();
  for (Launcher& launcher : launchers) {  // a pidfd never becomes that of another process
    launcher.id = static_cast<pid_t>(::syscall(SYS_pidfd_open, launcher.id, 0));
  }
  timespec patience = to_end_others;
  for (const int number : {SIGINT, SIGINT, SIGKILL}) {
    ::nanosleep(&patience, nullptr);
    for (const Launcher& launcher : launchers) {
      if (!launcher.is_daemon || number == SIGKILL) {
        ::syscall(SYS_pidfd_send_signal, launcher.id, number, nullptr, 0);
      }
    }
    patience = second;
  }
  ::_exit(0);
}

}  // namespace heed
