// Notices within seconds that a host has vanished: a cable was cut, the power failed. MPI waits as
// long as TCP does, which is many minutes.
//
// Each process on another host than rank 0 has a TCP connection to rank 0. The kernels at both ends
// ask each other every second whether they are still there, also while a process computes or is
// stopped. The only byte that it ever carries asks a process to end, as a third host has vanished.
#pragma once

#include <thread>
#include <vector>

#include "train/wings/processes/communicator.h"
#include "train/wings/processes/hosts.h"

namespace heed {

class HostWatch {
 public:
  static constexpr int most_silence = 8;  // seconds

  // Connects the processes, which all make one. Does nothing if they share a host.
  HostWatch(Communicator& ranks, const std::vector<ProcessInfo>& processes);
  // To be called before or after the processes take leave of each other.
  ~HostWatch();
  HostWatch(const HostWatch&) = delete;
  HostWatch& operator=(const HostWatch&) = delete;

  // The ranks on other hosts whose connection could not be made, behind a firewall for instance.
  const std::vector<int>& unwatched() const { return unwatched_; }

 private:
  struct Peer {
    int socket = -1;
    int rank = 0;
  };
  struct Offer;  // where rank 0 listens

  void accept_all(int listener, const Offer& offer, size_t count);
  void connect_to(const Offer& offer);
  void watch();
  [[noreturn]] void end_all(const Peer& peer) const;

  const std::vector<ProcessInfo> processes_;
  const int rank_;
  std::vector<Peer> peers_;
  std::vector<int> unwatched_;
  int stop_ = -1;  // an eventfd
  std::thread thread_;
};

}  // namespace heed
