#include "train/extras/processes/hosts.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "autograd/base/error.h"
#include "autograd/threads/machine.h"
#include "autograd/threads/parallel.h"
#include "layers/text/display.h"

namespace heed {

namespace {

constexpr char between = '\0';  // names and values have none

// "0-3", or "" where the system does not tell.
std::string cpus_of_this_process() {
  constexpr std::string_view key = "Cpus_allowed_list:\t";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return "";
}

std::vector<std::string> split(const std::string& joined) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < joined.size();) {
    const size_t end = std::min(joined.find(between, at), joined.size());
    parts.push_back(joined.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// "a\0 1\0 b\0 2\0" -> {a: 1, b: 2}
std::map<std::string, std::string> values_in(const std::string& joined) {
  const std::vector<std::string> parts = split(joined);
  std::map<std::string, std::string> values;
  for (size_t at = 0; at + 1 < parts.size(); at += 2) values[parts[at]] = parts[at + 1];
  return values;
}

std::string value_of(const std::string& name, const std::map<std::string, std::string>& values) {
  const auto found = values.find(name);
  return found == values.end() || found->second.empty() ? "nothing" : printable(found->second);
}

}  // namespace

std::string name_of(int rank, const std::vector<ProcessInfo>& processes) {
  return text("rank ", rank, " on ", processes[static_cast<size_t>(rank)].host);
}

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return printable(name);
}

std::vector<ProcessInfo> divide_threads(Communicator& ranks) {
  std::vector<ProcessInfo> processes;
  const std::string own = host_name() + between + cpus_of_this_process() + between;
  for (const std::string& of_rank : gather_all(ranks, own)) {
    const std::vector<std::string> parts = split(of_rank);
    processes.push_back({.host = parts[0], .cpus = parts[1]});
  }
  const ProcessInfo& here = processes[static_cast<size_t>(ranks.rank())];
  const auto sharing = std::count_if(
      processes.begin(), processes.end(),
      [&](const ProcessInfo& other) { return other.host == here.host && other.cpus == here.cpus; });
  if (!threads_were_set() && ranks.size() > 1) {
    set_num_threads(std::max(1, available_cores() / static_cast<int>(sharing)));
  }
  const std::vector<std::string> threads = gather_all(ranks, text(num_threads()));
  for (size_t rank = 0; rank < processes.size(); ++rank) {
    processes[rank].threads = std::stoi(threads[rank]);
  }
  return processes;
}

std::string describe(const std::vector<ProcessInfo>& processes) {
  std::string line = text(processes.size(), ": ");
  for (size_t begin = 0; begin < processes.size();) {
    const ProcessInfo& first = processes[begin];
    size_t end = begin + 1;
    while (end < processes.size() && processes[end].host == first.host &&
           processes[end].threads == first.threads) {
      ++end;
    }
    const bool several = end - begin > 1;
    line += text(begin == 0 ? "" : "; ", several ? "ranks " : "rank ", begin,
                 several ? text(" to ", end - 1) : "", " on ", first.host, ", ", first.threads,
                 first.threads == 1 ? " thread" : " threads", several ? " each" : "");
    begin = end;
  }
  return line;
}

void require_same(Communicator& ranks, const std::vector<ProcessInfo>& processes,
                  const std::map<std::string, std::string>& values) {
  std::string own;
  for (const auto& [name, value] : values) {
    own += name + between + value + between;
  }
  const std::vector<std::string> all = gather_all(ranks, own);
  const std::map<std::string, std::string> first = values_in(all[0]);
  for (size_t rank = 1; rank < all.size(); ++rank) {
    const std::map<std::string, std::string> other = values_in(all[rank]);
    std::map<std::string, std::string> names = first;
    names.insert(other.begin(), other.end());
    for (const auto& [name, ignored] : names) {
      require<ConfigError>(value_of(name, first) == value_of(name, other),
                           "the processes differ in ", printable(name), ": ", value_of(name, first),
                           " on ", name_of(0, processes), ", ", value_of(name, other), " on ",
                           name_of(static_cast<int>(rank), processes),
                           "; the bits would not be those of a single process");
    }
  }
}

}  // namespace heed
