#include "train/extras/processes/communicator.h"

#include <chrono>
#include <cstdint>
#include <thread>

namespace heed {

namespace {

constexpr int tag_of_collectives = 0;  // ShardSum has those from 1 on

// A message of a length that only its sender knows: the length, then the bytes.
void send_text(Communicator& ranks, int to, const std::string& text) {
  const int64_t length = static_cast<int64_t>(text.size());
  int left = 2;
  const auto done = [&left] { --left; };
  ranks.send(to, tag_of_collectives, std::as_bytes(std::span(&length, 1)), done);
  ranks.send(to, tag_of_collectives, std::as_bytes(std::span(text)), done);
  ranks.wait_until([&left] { return left == 0; });
}

std::string receive_text(Communicator& ranks, int from) {
  bool over = false;
  const auto receive = [&](Communicator::Bytes into) {
    over = false;
    ranks.receive(from, tag_of_collectives, into, [&over] { over = true; });
    ranks.wait_until([&over] { return over; });
  };
  int64_t length = 0;
  receive(std::as_writable_bytes(std::span(&length, 1)));
  std::string text(static_cast<size_t>(length), '\0');
  receive(std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace

void Communicator::wait_until(const std::function<bool()>& over) {
  constexpr int looks_before_sleep = 200;
  constexpr std::chrono::microseconds nap{50};
  for (int looks = 0; !over();) {
    looks = progress() ? 0 : looks + 1;
    if (looks > looks_before_sleep) {
      std::this_thread::sleep_for(nap);
    }
  }
}

std::vector<std::string> gather_all(Communicator& ranks, const std::string& own) {
  std::string all;  // the length and the bytes of each
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (ranks.rank() == 0) {
      const std::string value = rank == 0 ? own : receive_text(ranks, rank);
      append_number(value.size(), all);
      all += value;
    } else if (ranks.rank() == rank) {
      send_text(ranks, 0, own);
    }
  }
  all = from_first(ranks, std::move(all));
  std::vector<std::string> values;
  for (std::string_view rest = all; !rest.empty();) {
    const auto length = next_number<size_t>(rest);
    values.emplace_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  return values;
}

// Along a binomial tree: in round k each of the ranks below 2^k, which have the value, sends it to
// the rank 2^k above.
std::string from_first(Communicator& ranks, std::string value) {
  for (int have = 1; have < ranks.size(); have *= 2) {
    if (ranks.rank() < have && ranks.rank() + have < ranks.size()) {
      send_text(ranks, ranks.rank() + have, value);
    } else if (have <= ranks.rank() && ranks.rank() < 2 * have) {
      value = receive_text(ranks, ranks.rank() - have);
    }
  }
  return value;
}

}  // namespace heed
