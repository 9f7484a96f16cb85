// One OpenMP region for each shared loop. README.md says why and what it costs.
#include "autograd/threads/parallel.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <vector>

#include "autograd/base/error.h"
#include "autograd/base/modes.h"
#include "autograd/threads/machine.h"

namespace heed {

namespace {

std::atomic<int> chosen_threads{0};  // by set_num_threads; 0: none
std::atomic<int> most_that_pay{most_threads};

// If several threads of a program compute at the same time, the one that holds this runs its loop
// on all cores. The others run theirs serially, without waiting: with a parallel region each, there
// would be more threads than cores.
std::mutex the_cores;

// The chunks [begin, end) that nobody has claimed yet, in one word. The owner claims from the
// front, other threads from the back. The order of memory accesses is relaxed: a range hands out
// numbers only, and data passes between threads where the region begins and ends.
class alignas(64) Range {
 public:
  void fill(uint32_t begin, uint32_t end) {
    word_.store(pack(begin, end), std::memory_order_relaxed);
  }

  bool claim_front(uint32_t& chunk) {
    return claim([&](uint32_t& begin, uint32_t&) { chunk = begin++; });
  }

  bool claim_back(uint32_t& chunk) {
    return claim([&](uint32_t&, uint32_t& end) { chunk = --end; });
  }

  void drop_all() { fill(0, 0); }

 private:
  static uint64_t pack(uint32_t begin, uint32_t end) { return uint64_t{begin} << 32 | end; }

  template <class Change>
  bool claim(Change&& change) {
    uint64_t seen = word_.load(std::memory_order_relaxed);
    for (;;) {
      auto begin = static_cast<uint32_t>(seen >> 32);
      auto end = static_cast<uint32_t>(seen);
      if (begin >= end) {
        return false;
      }
      change(begin, end);
      if (word_.compare_exchange_weak(seen, pack(begin, end), std::memory_order_relaxed)) {
        return true;
      }
    }
  }

  std::atomic<uint64_t> word_{0};
};

// The chunks that thread `self` of a region runs: first its own, in order, so that from loop to
// loop it keeps its rows in its cache; then those of the others from the back.
class Claims {
 public:
  Claims(std::vector<Range>& ranges, size_t self) : ranges_(ranges), self_(self) {}

  bool next(uint32_t& chunk) {
    if (step_ == 0 && ranges_[self_].claim_front(chunk)) {
      return true;
    }
    for (step_ = std::max<size_t>(step_, 1); step_ < ranges_.size(); ++step_) {
      if (ranges_[(self_ + step_) % ranges_.size()].claim_back(chunk)) {
        return true;
      }
    }
    return false;
  }

 private:
  std::vector<Range>& ranges_;
  const size_t self_;
  size_t step_ = 0;  // from self_ to the thread whose chunks are claimed
};

// The first exception of a region. None may leave it: OpenMP would end the process.
class FirstException {
 public:
  void keep() noexcept {
    if (!kept_.test_and_set()) {
      exception_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (exception_) [[unlikely]] {
      std::rethrow_exception(exception_);
    }
  }

 private:
  std::atomic_flag kept_;
  std::exception_ptr exception_;
};

// Deals the chunks out to the threads. Call it with the cores. OpenMP may give a region fewer
// threads than it asks for (OMP_THREAD_LIMIT, OMP_DYNAMIC); the ranges of those that are missing
// are claimed by the others.
std::vector<Range>& deal(int64_t chunks, int threads) {
  static std::vector<Range> ranges;  // kept from loop to loop: a step allocates nothing
  if (ranges.size() != static_cast<size_t>(threads)) {
    ranges = std::vector<Range>(static_cast<size_t>(threads));
  }
  const uint64_t parts = ranges.size();
  uint64_t begin = 0;
  for (uint64_t t = 0; t < parts; ++t) {
    const uint64_t end = (static_cast<uint64_t>(chunks) * (t + 1) + parts - 1) / parts;
    ranges[t].fill(static_cast<uint32_t>(begin), static_cast<uint32_t>(end));
    begin = end;
  }
  return ranges;
}

void check(const char* name, int64_t grain) {
  require(grain > 0, name, ": expected a grain of 1 or more, got ", grain);
}

}  // namespace

int num_threads() {
  static const int by_default = default_threads();
  if (threads_were_set()) {
    return chosen_threads != 0 ? chosen_threads.load() : by_default;
  }
  return std::min<int>(by_default, most_that_pay);
}

bool threads_were_set() {
  static const bool by_environment = requested_threads() > 0;
  return by_environment || chosen_threads != 0;
}

void limit_threads(int threads) { most_that_pay = std::clamp(threads, 1, most_threads); }

void set_num_threads(int threads) { chosen_threads = std::clamp(threads, 1, most_threads); }

// The level counts regions of a single thread too, such as one that OMP_THREAD_LIMIT=1 leaves: a
// loop inside its body must not open another one either.
bool in_parallel() { return omp_get_level() > 0; }

namespace {
thread_local int own_place = 0;
}

int thread_index() { return own_place; }

namespace detail {

namespace {

void run_here(int64_t count, int64_t grain, ChunkBody body, void* context) {
  for (int64_t begin = 0; begin < count; begin += grain) {
    body(context, begin, std::min(count, begin + grain));
  }
}

}  // namespace

// The region asks for the same number of threads for short loops too: libgomp ends the threads that
// a smaller team leaves over, and starts them again for the next larger one.
void run_chunks(int64_t count, int64_t grain, ChunkBody body, void* context) {
  if (dry_run() || count <= 0) {
    return;
  }
  check("parallel_for", grain);
  const int64_t chunks = (count - 1) / grain + 1;
  if (chunks == 1 || in_parallel()) {
    run_here(count, grain, body, context);
    return;
  }
  const std::unique_lock ours(the_cores, std::try_to_lock);
  const int threads = ours ? num_threads() : 1;
  if (threads == 1 || chunks > std::numeric_limits<uint32_t>::max()) {
    run_here(count, grain, body, context);
    return;
  }
  std::vector<Range>& ranges = deal(chunks, threads);
  FirstException thrown;
#pragma omp parallel num_threads(threads)
  {
    own_place = omp_get_thread_num();
    try {
      Claims claims(ranges, static_cast<size_t>(own_place));
      for (uint32_t chunk = 0; claims.next(chunk);) {
        const int64_t begin = chunk * grain;
        body(context, begin, std::min(count, begin + grain));
      }
    } catch (...) {
      thrown.keep();
      for (Range& range : ranges) range.drop_all();
    }
    own_place = 0;
  }
  thrown.rethrow();
}

double sum_chunks(int64_t count, int64_t grain, ChunkSum body, void* context) {
  if (dry_run() || count <= 0) {
    return 0;
  }
  check("parallel_sum", grain);
  double sum = 0;
  if (count <= grain || num_threads() == 1 || in_parallel()) {
    for (int64_t begin = 0; begin < count; begin += grain) {
      sum += body(context, begin, std::min(count, begin + grain));
    }
    return sum;
  }
  thread_local std::vector<double>
      memory;                             // keeps its capacity: no allocation after the first steps
  std::vector<double>& partial = memory;  // of this thread, in bodies on others too
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
