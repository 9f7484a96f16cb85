#include "train/wings/neighbours/free_cpus.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <locale>
#include <string>

#include "autograd/threads/machine.h"
#include "autograd/threads/parallel.h"

namespace heed {

namespace {

// Counts the CPUs of the machine that other programs leave free, on average over half a second.
class FreeCpus {
 public:
  int count() {
    constexpr std::chrono::milliseconds window{500};
    const Clock::time_point now = Clock::now();
    if (now - since_ >= window) {
      const CpuTime time = cpu_time();
      const double seconds = std::chrono::duration<double>(now - since_).count();
      const double elsewhere = time.machine - before_.machine - (time.process - before_.process);
      count_ = machine_cpus();
      if (before_.machine > 0) {
        count_ -= static_cast<int>(std::lround(elsewhere / seconds));
      }
      before_ = time;
      since_ = now;
    }
    return count_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point since_{};
  CpuTime before_;
  int count_ = 0;
};

int threads_worth_using(int threads) {
  static FreeCpus free_cpus;
  return threads_beside(free_cpus.count(), threads);
}

[[maybe_unused]] const bool is_asked = [] {
  choose_threads_by(threads_worth_using);
  return true;
}();

}  // namespace

CpuTime cpu_time() {
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  CpuTime time{0, seconds(own.ru_utime) + seconds(own.ru_stime)};
  // "cpu 5127 12 731 90012 44 0 3 0 0 0": ticks in user, nice, system, idle, iowait, irq, softirq.
  std::ifstream file("/proc/stat");
  file.imbue(std::locale::classic());
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0;
  if (file >> name >> user >> nice >> system >> idle >> waiting >> irq >> softirq) {
    time.machine = (user + system + irq + softirq) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  return time;
}

int threads_beside(int free_cpus, int threads) {
  return std::clamp(free_cpus, (threads + 1) / 2, threads);
}

}  // namespace heed
