#include "autograd/threads/parallel.h"

#include <doctest/doctest.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "autograd/array/storage.h"
#include "autograd/base/error.h"
#include "autograd/threads/machine.h"

namespace {

// Puts the number of threads back when a test is over.
class Threads {
 public:
  explicit Threads(int threads) : before_(heed::num_threads()) { heed::set_num_threads(threads); }
  ~Threads() { heed::set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

}  // namespace

TEST_CASE("parallel: every item once, in fixed chunks") {
  for (const int threads : {1, 2, 3, 7}) {
    const Threads scope(threads);
    for (const int64_t count : {0, 1, 7, 8, 15, 16, 17, 31, 33, 127, 129, 10000}) {
      for (const int64_t grain : {1, 3, 16, 1000, 20000}) {
        std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
        std::atomic<int64_t> chunks{0};
        std::atomic<int64_t> wrong{0};
        heed::parallel_for(count, grain, [&](int64_t begin, int64_t end) {
          ++chunks;
          wrong += begin % grain != 0 || end != std::min(count, begin + grain);
          for (int64_t i = begin; i < end; ++i) {
            ++seen[static_cast<size_t>(i)];
          }
        });
        int64_t once = 0;
        for (const auto& times : seen) {
          once += times == 1;
        }
        CHECK(once == count);
        CHECK(wrong == 0);
        CHECK(chunks == (count + grain - 1) / grain);
      }
    }
  }
}

TEST_CASE("parallel: items and rows one by one, rows of nothing not at all") {
  const Threads scope(3);
  std::vector<int> items(1000), rows(1000);
  heed::parallel_each(1000, 7, [&](int64_t i) { ++items[static_cast<size_t>(i)]; });
  const auto count_row = [&](int64_t r) { ++rows[static_cast<size_t>(r)]; };
  heed::parallel_rows(1000, 16, count_row);
  heed::parallel_rows(1000, 0, count_row);
  CHECK(items == std::vector<int>(1000, 1));
  CHECK(rows == items);
}

TEST_CASE("parallel: a sum has the same bits for any number of threads") {
  constexpr int64_t count = 100003;
  std::vector<double> terms(count);
  for (int64_t i = 0; i < count; ++i) {
    terms[static_cast<size_t>(i)] = std::sin(static_cast<double>(i)) * std::pow(10.0, i % 17);
  }
  const auto sum = [&] {
    return heed::parallel_sum(count, 1000, [&](int64_t begin, int64_t end) {
      double part = 0;
      for (int64_t i = begin; i < end; ++i) {
        part += terms[static_cast<size_t>(i)];
      }
      return part;
    });
  };
  double expected = 0;
  for (int64_t begin = 0; begin < count; begin += 1000) {
    double part = 0;
    for (int64_t i = begin; i < std::min(count, begin + 1000); ++i) {
      part += terms[static_cast<size_t>(i)];
    }
    expected += part;
  }
  for (int threads = 1; threads <= 16; ++threads) {
    const Threads scope(threads);
    for (int repeat = 0; repeat < 10; ++repeat) {
      CHECK(sum() == expected);
    }
  }
  CHECK(heed::parallel_sum(0, 8, [](int64_t, int64_t) { return 1.0; }) == 0);
}

TEST_CASE("parallel: both threads take part") {
  const Threads scope(2);
  std::atomic<int> inside{0};
  bool met = false;
  for (int attempt = 0; attempt < 100 && !met; ++attempt) {  // the machine may be busy
    std::atomic<int> most{0};
    inside = 0;
    heed::parallel_for(2, 1, [&](int64_t, int64_t) {
      ++inside;
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
      while (inside < 2 && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
      }
      most = std::max<int>(most, inside);
      --inside;
    });
    met = most == 2;
  }
  CHECK(met);
}

TEST_CASE("parallel: a loop inside a body runs on its thread") {
  const Threads scope(3);
  std::atomic<int64_t> items{0};
  std::atomic<int64_t> strays{0};
  CHECK_FALSE(heed::in_parallel());
  heed::parallel_for(12, 1, [&](int64_t, int64_t) {
    const auto self = std::this_thread::get_id();
    strays += !heed::in_parallel();
    heed::parallel_for(10, 2, [&](int64_t begin, int64_t end) {
      items += end - begin;
      strays += std::this_thread::get_id() != self;
    });
    strays += heed::parallel_sum(6, 2, [](int64_t begin, int64_t end) {
                return static_cast<double>(end - begin);
              }) != 6.0;
  });
  CHECK(items == 120);
  CHECK(strays == 0);
  CHECK_FALSE(heed::in_parallel());
}

// Two threads of another program, and one alone: each runs all of its loop, in order.
TEST_CASE("parallel: a loop inside a region of the calling program runs on its thread") {
  const Threads scope(3);
  for (const int callers : {1, 2}) {
    CAPTURE(callers);
    std::atomic<int64_t> items{0}, strays{0}, regions{0};
#pragma omp parallel num_threads(callers)
    {
      const auto self = std::this_thread::get_id();
      int64_t next = 0;
      ++regions;
      strays += !heed::in_parallel();
      heed::parallel_for(100, 7, [&](int64_t begin, int64_t end) {
        strays += begin != next || std::this_thread::get_id() != self;
        next = end;
        items += end - begin;
      });
      strays += heed::parallel_sum(60, 2, [](int64_t begin, int64_t end) {
                  return static_cast<double>(end - begin);
                }) != 60.0;
    }
    CHECK(items == 100 * regions);
    CHECK(strays == 0);
    CHECK_FALSE(heed::in_parallel());
  }
}

// OMP_DYNAMIC lets OpenMP give a region fewer threads than it asks for; with OMP_THREAD_LIMIT=2, as
// ctest runs this file a second time, it never gives more than two.
TEST_CASE("parallel: a team that is smaller than asked for does all chunks") {
  const char* limit = std::getenv("OMP_THREAD_LIMIT");
  const int most = limit != nullptr ? std::atoi(limit) : 16;
  const int dynamic = omp_get_dynamic();
  for (const bool smaller : {false, true}) {
    omp_set_dynamic(smaller);
    for (const int threads : {2, 5, 16}) {
      const Threads scope(threads);
      std::vector<int> seen(1000, 0);
      std::atomic<int> largest{0};
      heed::parallel_for(1000, 3, [&](int64_t begin, int64_t end) {
        largest = std::max<int>(largest, omp_get_num_threads());
        for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
      });
      CHECK(std::count(seen.begin(), seen.end(), 1) == 1000);
      CHECK(largest <= std::min(most, threads));
    }
  }
  omp_set_dynamic(dynamic);
}

TEST_CASE("parallel: a program's own number of OpenMP threads stays") {
  const Threads scope(3);
  const int before = omp_get_max_threads();
  heed::parallel_for(30, 1, [](int64_t, int64_t) {});
  CHECK(omp_get_max_threads() == before);
}

TEST_CASE("parallel: one chunk runs on the calling thread") {
  const Threads scope(4);
  std::thread::id runner;
  heed::parallel_for(100, 100, [&](int64_t, int64_t) { runner = std::this_thread::get_id(); });
  CHECK(runner == std::this_thread::get_id());
}

TEST_CASE("parallel: many short loops, sleeping in between, changing the number of threads") {
  int64_t total = 0;
  for (int round = 0; round < 300; ++round) {
    const Threads scope(1 + round % 4);
    std::atomic<int64_t> items{0};
    for (int loop = 0; loop < 20; ++loop) {
      heed::parallel_for(5, 1, [&](int64_t begin, int64_t end) { items += end - begin; });
    }
    if (round % 50 == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // threads fall asleep
    }
    total += items;
  }
  CHECK(total == 300 * 20 * 5);
}

TEST_CASE("parallel: an exception in a body reaches the caller, and the next loop runs") {
  for (const int threads : {1, 2, 3}) {
    CAPTURE(threads);
    const Threads scope(threads);
    for (const int64_t bad : {0, 57, 99}) {
      const auto sick = [bad](int64_t begin, int64_t) {
        heed::require<heed::GraphError>(begin != bad, "chunk ", begin);
      };
      CHECK_THROWS_WITH_AS(heed::parallel_for(100, 1, sick),
                           ("chunk " + std::to_string(bad)).c_str(), heed::GraphError);
      CHECK_THROWS_AS(heed::parallel_sum(100, 1,
                                         [&](int64_t begin, int64_t end) {
                                           sick(begin, end);
                                           return 0.0;
                                         }),
                      heed::GraphError);
    }
    CHECK_FALSE(heed::in_parallel());
    CHECK(heed::parallel_sum(60, 2, [](int64_t begin, int64_t end) {
            return static_cast<double>(end - begin);
          }) == 60.0);
  }
}

TEST_CASE("parallel: when all bodies throw, one exception comes and most chunks do not run") {
  constexpr int64_t chunks = 100000;
  for (const int threads : {1, 2, 3}) {
    const Threads scope(threads);
    std::atomic<int64_t> begun{0};
    CHECK_THROWS_AS(heed::parallel_for(chunks, 1,
                                       [&](int64_t, int64_t) {
                                         ++begun;
                                         throw std::bad_alloc();
                                       }),
                    std::bad_alloc);
    CHECK(begun >= 1);
    CHECK(begun <= threads);
  }
}

TEST_CASE("parallel: a number of threads that no machine has becomes the largest one") {
  const Threads scope(100000);
  CHECK(heed::num_threads() == heed::most_threads);
}

TEST_CASE("parallel: takes temporaries and const bodies") {
  struct Count {
    std::atomic<int64_t>* items;
    void operator()(int64_t begin, int64_t end) const { *items += end - begin; }
  };
  std::atomic<int64_t> items{0};
  const Count body{&items};
  heed::parallel_for(10, 3, body);
  heed::parallel_for(10, 3, Count{&items});
  CHECK(items == 20);
}

TEST_CASE("parallel: refusals and dry runs") {
  CHECK_THROWS_AS(heed::parallel_for(4, 0, [](int64_t, int64_t) {}), heed::ShapeError);
  CHECK_THROWS_WITH(heed::parallel_sum(4, -1, [](int64_t, int64_t) { return 0.0; }),
                    "parallel_sum: expected a grain of 1 or more, got -1");
  const Threads scope(-5);
  CHECK(heed::num_threads() == 1);
  const heed::DryRun dry;
  bool ran = false;
  heed::parallel_for(4, 1, [&](int64_t, int64_t) { ran = true; });
  heed::parallel_for(4, 4, [&](int64_t, int64_t) { ran = true; });
  CHECK(heed::parallel_sum(4, 1, [&](int64_t, int64_t) { return 1.0; }) == 0);
  CHECK_FALSE(ran);
}
