// Threads of a host program that compute at the same time; .ci/run also runs these under the thread
// sanitizer.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "autograd/array/storage.h"
#include "autograd/graph/graph_observer.h"
#include "autograd/graph/tensor.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/sum.h"
#include "autograd/random/streams.h"
#include "autograd/threads/parallel.h"
#include "tests/support/near.h"

using namespace heed;
using namespace heed::testing;

namespace {

constexpr real shrink = 1 - real{1} / 1024, grow = 1 + real{1} / 1024;

// Calls each of them on a thread of its own, at the same time.
template <class... Bodies>
void at_the_same_time(Bodies&&... bodies) {
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  const auto start = [&](auto& body) {
    threads.emplace_back([&] {
      ++ready;
      while (ready < static_cast<int>(sizeof...(bodies))) std::this_thread::yield();
      body();
    });
  };
  (start(bodies), ...);
  for (std::thread& thread : threads) thread.join();
}

// The gradient of sum(x * factor^length), and of a product with loops of several chunks.
std::vector<real> gradients(real factor, int length, int64_t width) {
  Tensor x = Tensor::parameter(Array::full({width, width}, 1));
  for (int round = 0; round < 20; ++round) {
    Tensor y = x;
    for (int i = 0; i < length; ++i) y = y * Tensor(factor);
    sum(matmul(y, x)).backward();
  }
  const Array g = x.grad();
  return {g.span().begin(), g.span().end()};
}

}  // namespace

TEST_CASE("host threads: tiny and large tensors of two threads, the bits of one after the other") {
  const auto tiny = gradients(shrink, 300, 2), large = gradients(grow, 3, 160);
  for (int round = 0; round < 3; ++round) {
    std::vector<real> first, second, third;
    at_the_same_time([&] { first = gradients(shrink, 300, 2); },
                     [&] { second = gradients(grow, 3, 160); },
                     [&] { third = gradients(grow, 3, 160); });
    CHECK(first == tiny);
    CHECK(second == large);
    CHECK(third == large);
  }
}

TEST_CASE("host threads: loops and sums of two threads share the cores, and none waits") {
  std::atomic<int64_t> items{0};
  std::vector<double> sums(2);
  const auto loops = [&](double& total) {
    for (int i = 0; i < 300; ++i) {
      parallel_for(64, 1, [&](int64_t begin, int64_t end) { items += end - begin; });
      total += parallel_sum(
          64, 1, [](int64_t begin, int64_t) { return 1.0 / static_cast<double>(1 + begin); });
    }
  };
  at_the_same_time([&] { loops(sums[0]); }, [&] { loops(sums[1]); });
  CHECK(items == 2 * 300 * 64);
  CHECK(sums[0] == sums[1]);
  double alone = 0;
  loops(alone);
  CHECK(sums[0] == alone);
  // A loop that waits for a loop of another thread: both end.
  bool ran = false;
  parallel_for(2, 1, [&](int64_t begin, int64_t) {
    if (begin == 0)
      std::thread([&] { parallel_for(9, 1, [&](int64_t, int64_t) { ran = true; }); }).join();
  });
  CHECK(ran);
}

TEST_CASE("host threads: switches, streams and observers are a thread's own") {
  const NoGrad off;
  set_fused(false);
  manual_seed(3);
  const uint32_t mine = Streams(3).data().random32();
  std::optional<DryRun> dry(std::in_place);
  const GraphObserver observer;
  bool fresh = false;
  std::thread([&] {
    const bool switches = fused() && !dry_run() && NoGrad::recording() && !GraphObserver::exists();
    const DryRun of_this_thread;
    manual_seed(4);
    fresh = switches && pool::stats().live_bytes == 0;
  }).join();
  CHECK(fresh);
  CHECK(dry_run());
  dry.reset();
  CHECK(!fused());
  CHECK(streams().data().random32() == mine);
  set_fused(true);
}

TEST_CASE("host threads: a graph of one thread goes on in another, and dies there") {
  const int64_t nodes = live_nodes();
  Tensor x = Tensor::parameter(Array::full({3}, 2)), y = x;
  for (int i = 0; i < 1000; ++i) y = y * Tensor(real{1});
  std::thread([&] {
    // Its first node; also that of a value that the sum reaches by two ways.
    const Tensor z = y * y;
    y = Tensor();
    sum(z + x).backward();
  }).join();
  check_near(x.grad(), Array::full({3}, 5));
  sum(x * x).backward();  // a pass here after a pass there
  check_near(x.grad(), Array::full({3}, 9));
  x = Tensor();
  CHECK(live_nodes() <= nodes + 1001);  // the other thread destroyed the rest
}

TEST_CASE("host threads: a thread that ends leaves its memory to the next one") {
  int64_t first = 0, second = 0;
  const auto work = [](int64_t& misses) {
    return [&misses] {
      const int64_t before = pool::stats().misses;
      const Array a = Array::zeros({1000, 300}), b = Array::zeros({4});
      misses = pool::stats().misses - before;
    };
  };
  std::thread(work(first)).join();
  std::thread(work(second)).join();
  CHECK(second == 0);
  Array handed_over;  // outlives the thread that made it
  std::thread([&] { handed_over = Array::full({1000}, 7); }).join();
  check_near(handed_over, Array::full({1000}, 7));
}

TEST_CASE("host threads: NoGrads may end in any order") {
  auto first = std::make_unique<NoGrad>();
  auto second = std::make_unique<NoGrad>();
  first.reset();
  CHECK(!NoGrad::recording());
  second.reset();
  CHECK(NoGrad::recording());
}
