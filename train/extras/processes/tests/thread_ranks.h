// Processes of a run for tests: threads of this process that take turns.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

#include "train/extras/processes/communicator.h"

namespace heed::testing {

// What all ranks share. A rank holds the lock while it computes, since only one thread may at a
// time, and releases it while it waits for a message.
struct Mailbox {
  std::mutex turn;
  std::map<std::tuple<int, int, int>, std::deque<std::vector<std::byte>>>
      messages;  // from, to, tag
};

class ThreadRank final : public Communicator {
 public:
  ThreadRank(Mailbox& mailbox, int rank, int size) : mailbox_(mailbox), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void send(int to, int tag, ConstBytes message, Done done) override {
    mailbox_.messages[{rank_, to, tag}].emplace_back(message.begin(), message.end());
    done();
  }

  void receive(int from, int tag, Bytes message, Done done) override {
    awaited_.push_back({from, tag, message, std::move(done)});
  }

  bool progress() override {
    for (auto next = awaited_.begin(); next != awaited_.end(); ++next) {
      auto& here = mailbox_.messages[{next->from, rank_, next->tag}];
      if (!here.empty()) {
        std::copy(here.front().begin(), here.front().end(), next->into.begin());
        here.pop_front();
        const Done done = std::move(next->done);
        awaited_.erase(next);
        done();
        return true;
      }
    }
    mailbox_.turn.unlock();
    std::this_thread::yield();
    mailbox_.turn.lock();
    return false;
  }

  void leave() override {}

 private:
  struct Awaited {
    int from, tag;
    Bytes into;
    Done done;
  };

  Mailbox& mailbox_;
  const int rank_, size_;
  std::deque<Awaited> awaited_;
};

// Calls body(ranks) for each of `size` ranks, each on a thread.
template <class Body>
void run_ranks(int size, Body&& body) {
  Mailbox mailbox;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&mailbox, &body, rank, size] {
      const std::lock_guard turn(mailbox.turn);
      ThreadRank ranks(mailbox, rank, size);
      body(ranks);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace heed::testing
