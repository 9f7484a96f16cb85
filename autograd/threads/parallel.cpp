#include "autograd/threads/parallel.h"

#include <omp.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <vector>

#include "autograd/base/error.h"
#include "autograd/threads/machine.h"

namespace heed {

namespace {

std::atomic<int> chosen_threads{0};
thread_local bool inside_body = false;

// Chunks [begin, end) that no thread has taken yet, in one word: begin in the upper half, end in
// the lower one. The owner takes from the front, the other threads from the back, each by one
// compare-and-exchange.
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

// Deals the chunks out evenly, as consecutive ranges, one for each thread. From loop to loop a
// thread then works on the same rows, which stay in its cache.
void deal(uint64_t chunks, std::vector<Range>& ranges) {
  const uint64_t threads = ranges.size();
  uint64_t begin = 0;
  for (uint64_t t = 0; t < threads; ++t) {
    const uint64_t end = (chunks * (t + 1) + threads - 1) / threads;
    ranges[t].fill(static_cast<uint32_t>(begin), static_cast<uint32_t>(end));
    begin = end;
  }
}

// What one thread of the team does: its own chunks from the front, then those that other threads
// have left, from the back. A thread that does not run, since another program has its core, or that
// the team lacks, so loses its chunks to the others.
void take_part(const Loop& loop, std::vector<Range>& ranges, size_t self) {
  uint32_t chunk = 0;
  while (ranges[self].take_front(chunk)) {
    loop.run(chunk);
  }
  for (size_t step = 1; step < ranges.size(); ++step) {
    Range& other = ranges[(self + step) % ranges.size()];
    while (other.take_back(chunk)) {
      loop.run(chunk);
    }
  }
}

// The one parallel region of heed. The team always has the same size: OpenMP's runtime ends
// threads that a smaller team does not need, and would start them again for the next loop.
void share(const Loop& loop) {
  static std::vector<Range> ranges;  // of the one thread that drives the engine
  const int threads = num_threads();
  if (ranges.size() != static_cast<size_t>(threads)) {
    ranges = std::vector<Range>(static_cast<size_t>(threads));
  }
  deal(static_cast<uint64_t>(loop.chunks()), ranges);
#pragma omp parallel num_threads(threads)
  {
    inside_body = true;
    take_part(loop, ranges, static_cast<size_t>(omp_get_thread_num()));
    inside_body = false;
  }
}

bool runs_serially() { return in_parallel() || num_threads() == 1; }

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

bool in_parallel() { return inside_body || omp_in_parallel() != 0; }

std::string wait_policy_warning() {
  const char* policy = std::getenv("OMP_WAIT_POLICY");
  if (policy == nullptr ||
      (policy != std::string_view("passive") && policy != std::string_view("PASSIVE"))) {
    return "";
  }
  return text("OMP_WAIT_POLICY=", policy,
              " is set: threads sleep between loops, and small models train about 40% slower");
}

namespace detail {

void run_chunks(int64_t count, int64_t grain, ChunkBody body, void* context) {
  if (dry_run() || count <= 0) {
    return;
  }
  check("parallel_for", grain);
  const Loop loop{count, grain, body, context};
  if (loop.chunks() > 1 && !runs_serially() &&
      loop.chunks() <= std::numeric_limits<uint32_t>::max()) {
    share(loop);
    return;
  }
  for (int64_t c = 0; c < loop.chunks(); ++c) {
    loop.run(c);
  }
}

double sum_chunks(int64_t count, int64_t grain, ChunkSum body, void* context) {
  if (dry_run() || count <= 0) {
    return 0;
  }
  check("parallel_sum", grain);
  double sum = 0;
  if (count <= grain || runs_serially()) {
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
