// Threads that are started once, spin briefly, then sleep.
//
// An OpenMP region ends when every thread has come and gone: beside other programs the caller waits
// for threads that are not running and have nothing to do. Here whoever is awake takes chunks, and
// the caller waits for chunks that others have begun, nothing else; with no other thread awake it
// does them all. README.md has the figures.
#include "autograd/threads/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

#include "autograd/base/error.h"
#include "autograd/base/modes.h"
#include "autograd/threads/machine.h"

namespace heed {

namespace {

std::atomic<int> chosen_threads{0};
thread_local bool inside_body = false;

void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Spins until ready() or until the time is over; says whether it is ready.
template <class Ready>
bool spin(std::chrono::microseconds time, Ready&& ready) {
  const auto end = std::chrono::steady_clock::now() + time;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) {
        return true;
      }
      pause_cpu();
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

// Chunks [begin, end) that nobody has taken yet, in one word. The owner takes from the front, the
// others from the back. What counts is the value at the exchange, so a thread that slept between
// reading and taking, even through whole loops, takes a chunk that is there or none.
class alignas(64) Range {
 public:
  void fill(uint32_t begin, uint32_t end) {
    word_.store(pack(begin, end), std::memory_order_release);
  }

  bool take_front(uint32_t& chunk) {
    return take([&](uint32_t& begin, uint32_t&) { chunk = begin++; });
  }

  bool take_back(uint32_t& chunk) {
    return take([&](uint32_t&, uint32_t& end) { chunk = --end; });
  }

 private:
  static uint64_t pack(uint32_t begin, uint32_t end) { return uint64_t{begin} << 32 | end; }

  template <class Change>
  bool take(Change&& change) {
    uint64_t seen = word_.load(std::memory_order_relaxed);
    for (;;) {
      auto begin = static_cast<uint32_t>(seen >> 32);
      auto end = static_cast<uint32_t>(seen);
      if (begin >= end) {
        return false;
      }
      change(begin, end);
      if (word_.compare_exchange_weak(seen, pack(begin, end), std::memory_order_acq_rel,
                                      std::memory_order_relaxed)) {
        return true;
      }
    }
  }

  std::atomic<uint64_t> word_{0};
};

struct Loop {
  int64_t count;
  int64_t grain;
  detail::ChunkBody body;
  void* context;

  int64_t chunks() const { return (count - 1) / grain + 1; }

  void run(int64_t chunk) const {
    body(context, chunk * grain, std::min(count, (chunk + 1) * grain));
  }
};

// Thread 0 is the caller. A loop is published by filling the ranges: whoever takes a chunk has
// acquired `loop_` with it, and `run` does not return before that chunk is done.
class ThreadPool {
 public:
  ThreadPool() = default;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool() { stop(); }

  void resize(int threads) {
    if (threads == static_cast<int>(ranges_.size())) {
      return;
    }
    stop();
    ranges_ = std::vector<Range>(static_cast<size_t>(threads));
    for (size_t t = 1; t < ranges_.size(); ++t) {
      workers_.emplace_back([this, t] { work(t); });
    }
  }

  void run(const Loop& loop) {
    const auto chunks = static_cast<uint64_t>(loop.chunks());
    const uint64_t threads = ranges_.size();
    loop_ = loop;
    unfinished_.store(static_cast<uint32_t>(chunks), std::memory_order_relaxed);
    uint64_t begin = 0;
    for (uint64_t t = 0; t < threads; ++t) {
      const uint64_t end = (chunks * (t + 1) + threads - 1) / threads;
      ranges_[t].fill(static_cast<uint32_t>(begin), static_cast<uint32_t>(end));
      begin = end;
    }
    caller_cpu_.store(current_cpu(), std::memory_order_relaxed);
    round_.fetch_add(1);
    wake(chunks - 1);
    help(0);
    wait_for_begun_chunks();
  }

 private:
  void wake(uint64_t helpers) {
    const uint64_t asleep = asleep_.load();
    if (asleep <= helpers && asleep > 0) {
      round_.notify_all();
      return;
    }
    for (uint64_t i = 0; i < std::min(asleep, helpers); ++i) {
      round_.notify_one();
    }
  }

  void stop() {
    stopping_ = true;
    round_.fetch_add(1);
    round_.notify_all();
    for (std::thread& worker : workers_) {
      worker.join();
    }
    workers_.clear();
    stopping_ = false;
  }

  void work(size_t self) {
    constexpr std::chrono::microseconds between_loops{100};
    inside_body = true;
    uint32_t seen = round_.load();
    find_a_core();
    help(self);
    while (!stopping_) {
      if (!spin(between_loops, [&] { return round_.load() != seen; })) {
        asleep_.fetch_add(1);
        round_.wait(seen);
        asleep_.fetch_sub(1);
      }
      seen = round_.load();
      find_a_core();
      help(self);
    }
  }

  // Linux likes to start and to wake a thread where its waker runs, even beside an idle core, and
  // takes 60 to 150 ms to part the two. When other programs have all cores it is the other way
  // round: two threads that get halves of two cores wait for each other, on one core they do not.
  void find_a_core() {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds between_looks{10};
    constexpr int sure = 20;  // looks; OpenBLAS's own threads spin for 100 ms after the start
    thread_local Clock::time_point next_look{};
    thread_local int busy_looks = 0;
    const int caller = caller_cpu_.load(std::memory_order_relaxed);
    const Clock::time_point now = Clock::now();
    if (caller < 0 || now < next_look) {
      return;
    }
    next_look = now + between_looks;
    busy_looks = some_cpu_idle() ? 0 : busy_looks + 1;
    const bool busy = busy_looks >= sure, together = current_cpu() == caller;
    if (together && !busy) {
      leave_cpu(caller);
    } else if (!together && busy && workers_.size() == 1) {
      join_cpu(caller);
    }
  }

  // A thread's own chunks come first, in order, so that from loop to loop it keeps its rows in its
  // cache; then those of the others from the far end.
  void help(size_t self) {
    uint32_t chunk = 0;
    while (ranges_[self].take_front(chunk)) {
      run_one(chunk);
    }
    for (size_t step = 1; step < ranges_.size(); ++step) {
      Range& other = ranges_[(self + step) % ranges_.size()];
      while (other.take_back(chunk)) {
        run_one(chunk);
      }
    }
  }

  void run_one(uint32_t chunk) {
    loop_.run(chunk);
    if (unfinished_.fetch_sub(1) == 1 && caller_asleep_) {
      unfinished_.notify_one();
    }
  }

  // Sleeping soon gives the core to the thread that is waited for, should it be waiting for one.
  void wait_for_begun_chunks() {
    constexpr std::chrono::microseconds patience{20};
    if (unfinished_ == 0 || spin(patience, [&] { return unfinished_ == 0; })) {
      return;
    }
    caller_asleep_ = true;
    for (uint32_t left = unfinished_; left != 0; left = unfinished_) {
      unfinished_.wait(left);
    }
    caller_asleep_ = false;
  }

  alignas(64) std::atomic<uint32_t> round_{0};
  std::atomic<uint32_t> asleep_{0};
  std::atomic<int> caller_cpu_{-1};
  std::atomic<bool> stopping_{false};
  alignas(64) std::atomic<uint32_t> unfinished_{0};
  std::atomic<bool> caller_asleep_{false};
  alignas(64) Loop loop_{};
  std::vector<Range> ranges_;
  std::vector<std::thread> workers_;
};

ThreadPool& thread_pool() {
  static ThreadPool threads;
  return threads;
}

void check(const char* name, int64_t grain) {
  require(grain > 0, name, ": expected a grain of 1 or more, got ", grain);
}

}  // namespace

int num_threads() {
  if (chosen_threads == 0) {
    chosen_threads = default_threads();
  }
  return chosen_threads;
}

void set_num_threads(int threads) { chosen_threads = std::max(threads, 1); }

bool in_parallel() { return inside_body; }

namespace detail {

void run_chunks(int64_t count, int64_t grain, ChunkBody body, void* context) {
  if (dry_run() || count <= 0) {
    return;
  }
  check("parallel_for", grain);
  if (count <= grain) {
    body(context, 0, count);
    return;
  }
  const Loop loop{count, grain, body, context};
  if (inside_body || num_threads() == 1 || loop.chunks() > std::numeric_limits<uint32_t>::max()) {
    for (int64_t c = 0; c < loop.chunks(); ++c) {
      loop.run(c);
    }
    return;
  }
  thread_pool().resize(num_threads());
  inside_body = true;
  thread_pool().run(loop);
  inside_body = false;
}

double sum_chunks(int64_t count, int64_t grain, ChunkSum body, void* context) {
  if (dry_run() || count <= 0) {
    return 0;
  }
  check("parallel_sum", grain);
  double sum = 0;
  if (count <= grain || inside_body || num_threads() == 1) {
    for (int64_t begin = 0; begin < count; begin += grain) {
      sum += body(context, begin, std::min(count, begin + grain));
    }
    return sum;
  }
  static std::vector<double> partial;  // keeps its capacity: no allocation after the first steps
  partial.resize(static_cast<size_t>((count - 1) / grain + 1));
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    partial[static_cast<size_t>(begin / grain)] = body(context, begin, end);
  });
  for (const double part : partial) {
    sum += part;
  }
  return sum;
}

}  // namespace detail

}  // namespace heed
