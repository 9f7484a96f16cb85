#include "train/parallel/tally.h"

#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <mutex>
#include <thread>

using namespace heed;

namespace {

// Ranks that are threads of this process; messages wait in one place.
struct Mailbox {
  std::mutex mutex;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> messages;  // from, to
};

class ThreadRank final : public Communicator {
 public:
  ThreadRank(Mailbox& mailbox, int rank) : mailbox_(mailbox), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return 2; }
  void send(int to, int, ConstBytes message, Done done) override {
    const std::lock_guard lock(mailbox_.mutex);
    mailbox_.messages[{rank_, to}].emplace_back(message.begin(), message.end());
    done();
  }
  void receive(int from, int, Bytes message, Done done) override {
    awaited_.push_back({from, message, std::move(done)});
  }
  bool progress() override {
    const std::lock_guard lock(mailbox_.mutex);
    if (awaited_.empty() || mailbox_.messages[{awaited_.front().from, rank_}].empty()) return false;
    const Awaited next = std::move(awaited_.front());
    awaited_.pop_front();
    auto& here = mailbox_.messages[{next.from, rank_}];
    std::copy(here.front().begin(), here.front().end(), next.into.begin());
    here.pop_front();
    next.done();
    return true;
  }
  void leave() override {}

 private:
  struct Awaited {
    int from;
    Bytes into;
    Done done;
  };
  Mailbox& mailbox_;
  const int rank_;
  std::deque<Awaited> awaited_;
};

Tally tally_of(double loss, int64_t example) {
  Tally own;
  own.losses = {loss};
  own.counted = 3;
  own.score.by_length[2] = {1, 1};
  own.score.confusion = {{1, 2}, {0, 4}};
  own.score.hardest = {{example, loss}};
  return own;
}

}  // namespace

TEST_CASE("tally: counts, classes and the hardest examples of two processes") {
  Mailbox mailbox;
  Tally of_second;
  std::thread second([&] {
    ThreadRank rank(mailbox, 1);
    of_second = sum_of_all(rank, tally_of(2, 5));
  });
  ThreadRank rank(mailbox, 0);
  const Tally of_first = sum_of_all(rank, tally_of(1, 9));
  second.join();
  for (const Tally& all : {of_first, of_second}) {
    CHECK(all.losses == std::vector<double>{1, 2});
    CHECK(all.counted == 6);
    CHECK(all.score.by_length.at(2).all == 2);
    CHECK(all.score.confusion == std::vector<std::vector<int64_t>>{{2, 4}, {0, 8}});
    REQUIRE(all.score.hardest.size() == 2);
    CHECK(all.score.hardest[0].example == 5);
    CHECK(all.score.hardest[1].loss == 1);
  }
}
