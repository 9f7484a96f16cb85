#include "train/wings/processes/host_watch.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <random>
#include <utility>

#include "autograd/base/error.h"
#include "train/wings/processes/end_launchers.h"

namespace heed {

// Rank 0 sends this to all, by MPI. A process that connects shows the token, and rank 0 answers
// with its complement: other programs may listen or connect, too.
struct HostWatch::Offer {
  static constexpr size_t most_addresses = 16;
  uint64_t token = 0;
  in_port_t port = 0;                                 // in network order, like the addresses
  std::array<in_addr_t, most_addresses> addresses{};  // 0: none
};

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds connect_timeout{1000}, answer_timeout{1000}, accept_all_timeout{10'000};
// After rank 0 has ended. The launcher usually ends the others long before.
constexpr milliseconds rank_0_timeout{10'000};

struct Hello {
  uint64_t token = 0;
  int64_t rank = 0;
};

// The addresses of this machine that others may reach.
std::vector<in_addr_t> own_addresses() {
  std::vector<in_addr_t> found;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) {
    return found;
  }
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr != nullptr && each->ifa_addr->sa_family == AF_INET &&
        (each->ifa_flags & IFF_UP) != 0 && (each->ifa_flags & IFF_LOOPBACK) == 0) {
      found.push_back(reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr.s_addr);
    }
  }
  ::freeifaddrs(all);
  return found;
}

int new_socket() { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

bool ready(int socket, short events, milliseconds patience) {
  pollfd one{socket, events, 0};
  return ::poll(&one, 1, static_cast<int>(std::max<int64_t>(0, patience.count()))) == 1;
}

// The few bytes of a greeting arrive at once or not at all.
template <class T>
bool receive_from(int socket, T& value) {
  return ready(socket, POLLIN, answer_timeout) &&
         ::recv(socket, &value, sizeof value, 0) == static_cast<ssize_t>(sizeof value);
}

template <class T>
bool send_to(int socket, const T& value) {
  return ::send(socket, &value, sizeof value, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof value);
}

// The kernel asks the other end after a second of silence, and every second from then on.
void keep_alive(int socket) {
  const auto set = [socket](int level, int option, int value) {
    ::setsockopt(socket, level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 1);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(IPPROTO_TCP, TCP_KEEPCNT, HostWatch::most_silence - 1);
}

// A socket that listens on any port of all interfaces; -1 if that cannot be. Sets the port.
int listen_for(size_t count, in_port_t& port) {
  const int listener = new_socket();
  sockaddr_in any{};
  any.sin_family = AF_INET;
  socklen_t size = sizeof any;
  if (listener < 0 || ::bind(listener, reinterpret_cast<const sockaddr*>(&any), size) != 0 ||
      ::listen(listener, static_cast<int>(count)) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&any), &size) != 0) {
    if (listener >= 0) ::close(listener);
    return -1;
  }
  port = any.sin_port;
  return listener;
}

}  // namespace

HostWatch::HostWatch(Communicator& ranks, const std::vector<ProcessInfo>& processes)
    : processes_(processes), rank_(ranks.rank()) {
  const auto is_far = [&](size_t rank) { return processes[rank].host != processes[0].host; };
  std::vector<int> far;
  for (size_t rank = 1; rank < processes.size(); ++rank) {
    if (is_far(rank)) far.push_back(static_cast<int>(rank));
  }
  if (far.empty()) {
    return;
  }
  Offer offer;
  int listener = -1;
  if (rank_ == 0) {
    std::random_device random;
    offer.token = uint64_t{random()} << 32 | random();
    const std::vector<in_addr_t> addresses = own_addresses();
    std::copy_n(addresses.begin(), std::min(addresses.size(), offer.addresses.size()),
                offer.addresses.begin());
    listener = listen_for(far.size(), offer.port);
  }
  offer = from_first(ranks, offer);
  if (rank_ == 0) {
    accept_all(listener, offer, far.size());
    ::close(listener);
  } else if (is_far(static_cast<size_t>(rank_))) {
    connect_to(offer);
  }
  const std::vector<std::string> states = gather_all(ranks, peers_.empty() ? "" : "connected");
  for (const int rank : far) {
    if (states[static_cast<size_t>(rank)].empty()) unwatched_.push_back(rank);
  }
  if (!peers_.empty()) {
    stop_ = ::eventfd(0, EFD_CLOEXEC);
    thread_ = std::thread([this] { watch(); });
  }
}

HostWatch::~HostWatch() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(stop_, &one, sizeof one);
    thread_.join();
    ::close(stop_);
  }
  for (const Peer& peer : peers_) ::close(peer.socket);
}

void HostWatch::accept_all(int listener, const Offer& offer, size_t count) {
  const Clock::time_point end = Clock::now() + accept_all_timeout;
  while (listener >= 0 && peers_.size() < count &&
         ready(listener, POLLIN, std::chrono::duration_cast<milliseconds>(end - Clock::now()))) {
    const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    Hello hello;
    const bool greeted = socket >= 0 && receive_from(socket, hello) && hello.token == offer.token &&
                         hello.rank > 0 && hello.rank < std::ssize(processes_) &&
                         send_to(socket, ~offer.token);
    if (greeted) {
      keep_alive(socket);
      peers_.push_back({socket, static_cast<int>(hello.rank)});
    } else if (socket >= 0) {
      ::close(socket);
    }
  }
}

void HostWatch::connect_to(const Offer& offer) {
  for (const in_addr_t address : offer.addresses) {
    if (address == 0 || offer.port == 0) {
      return;
    }
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = offer.port;
    to.sin_addr.s_addr = address;
    const int socket = new_socket();
    ::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    uint64_t answer = 0;
    if (ready(socket, POLLOUT, connect_timeout) && send_to(socket, Hello{offer.token, rank_}) &&
        receive_from(socket, answer) && answer == ~offer.token) {
      keep_alive(socket);
      peers_.push_back({socket, 0});
      return;
    }
    ::close(socket);
  }
}

// Until the destructor stops it. A connection that the other end closes is that of a process that
// has ended; the launcher then ends all, or they all end as they should. A byte asks to end: MPICH
// ends the processes of other hosts only if one is killed.
void HostWatch::watch() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);  // they are for the thread that trains
  std::vector<Peer> open = peers_;
  while (true) {
    std::vector<pollfd> events{{stop_, POLLIN, 0}};
    for (const Peer& peer : open) events.push_back({peer.socket, POLLIN, 0});
    const bool rank_0_ended = rank_ != 0 && open.empty();
    if (::poll(events.data(), events.size(),
               rank_0_ended ? static_cast<int>(rank_0_timeout.count()) : -1) == 0) {
      ::_exit(1);
    }
    if (events[0].revents != 0) {
      return;
    }
    for (size_t k = events.size(); k-- > 1;) {
      char byte = 0;
      if (events[k].revents == 0) {
        continue;
      }
      const ssize_t got = ::recv(events[k].fd, &byte, 1, MSG_DONTWAIT);
      if (got < 0 && errno != ECONNRESET && errno != EAGAIN && errno != EINTR) {
        end_all(open[k - 1]);
      }
      if (got > 0) {
        ::_exit(1);
      }
      if (got == 0 || (got < 0 && errno == ECONNRESET)) {
        open.erase(open.begin() + static_cast<ptrdiff_t>(k - 1));
      }
    }
  }
}

void HostWatch::end_all(const Peer& peer) const {
  const std::string line = text(
      "heed: ", name_of(peer.rank, processes_), " has not answered ", name_of(rank_, processes_),
      " for ", most_silence, " seconds: the host is down or the network between is cut; all ",
      "processes end; heed train --resume continues from the last checkpoint");
  std::fprintf(stderr, "%s%s\n", ::isatty(STDERR_FILENO) != 0 ? "\n" : "", line.c_str());
  end_launchers();
  for (const Peer& other : peers_) send_to(other.socket, char{1});
  ::_exit(1);
}

}  // namespace heed
