#include "autograd/array/storage.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "autograd/base/error.h"
#include "autograd/base/modes.h"
#include "autograd/base/real.h"

// The address sanitizer cannot see into the pool by itself. A block is therefore poisoned while it
// is in a free list, and a block in use is poisoned behind the bytes that were requested.
#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes) (static_cast<void>(address))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) (static_cast<void>(address))
#endif

namespace heed {

namespace {

// How a request is served, by size:
//   up to 64 KiB  from the free list of its class; if that is empty, from the rest of a chunk of
//                 256 KiB, mapped for blocks of this class. Pages that no block was cut from yet
//                 take no memory
//   above         from the smallest free range of addresses that holds it. Free ranges that touch
//                 become one: four arrays leave room for one of four times their size. If no range
//                 is large enough, more is mapped behind the last one; of a pool of 8 MiB on
//                 2 MiB pages, which need fewer TLB entries
// Ranges go back to the system in trim() and where free ones are more than a tenth.
constexpr size_t unit = 64;                 // every block is a multiple of a cache line
constexpr size_t listed_block = 64 * 1024;  // the largest block that has a free list
constexpr size_t chunk_bytes = 256 * 1024;
constexpr size_t page = 4096;
constexpr int64_t huge_pool = 8 * 1024 * 1024;     // from here on, more comes on 2 MiB pages
constexpr size_t most_bytes = size_t{1} << 52;     // more than any machine can address
constexpr uint32_t dry_bit = uint32_t{1} << 31;    // set in the size class of a dry run's block
constexpr uint32_t range_bit = uint32_t{1} << 30;  // and in that of a block without a free list

constexpr size_t round_up(size_t bytes, size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

// Size classes, for a request of u units of 64 bytes. There are eight per doubling, so that a block
// is at most an eighth larger than the request:
//   u < 8                class u, of u units
//   2^e <= u < 2^(e+1)   class 8 (e-3) + m, of m 2^(e-3) units, where m = ceil(u / 2^(e-3))
// Without a free list: m 2^s pages as bits, m up to 2^10, at most 1/512 more than the request.
constexpr uint32_t class_of(size_t bytes) {
  const bool listed = bytes <= listed_block;
  const size_t units =
      listed ? std::max<size_t>(1, (bytes + unit - 1) / unit) : (bytes + page - 1) / page;
  if (units < 8) return static_cast<uint32_t>(units);
  const auto width = static_cast<unsigned>(std::bit_width(units));
  const unsigned shift = listed ? width - 4 : std::max(width, 10U) - 10;
  const size_t parts = (units + (size_t{1} << shift) - 1) >> shift;
  return static_cast<uint32_t>(listed ? 8 * shift + parts : range_bit + (shift << 16) + parts);
}

size_t capacity_of(uint32_t size_class) {
  if (size_class >= range_bit) {
    return (size_t{size_class & 0xffff} << ((size_class - range_bit) >> 16)) * page;
  }
  if (size_class < 16) return size_class * unit;
  const unsigned shift = size_class / 8 - 1;
  return (size_t{size_class - 8 * shift} << shift) * unit;
}

// Maps `bytes`, at this address if it is free.
std::byte* map_pages(size_t bytes, bool address_space_only, void* at = nullptr) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (address_space_only ? MAP_NORESERVE : 0);
  void* const start = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (start == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(start);
}

// Pools so far. Their ranges begin 1 TiB apart, where that is free.
constinit std::atomic<size_t> pools_made{0};

// The free lists and ranges. A free block of a list holds the pointer to the next one in its first
// bytes, so the lists need no memory.
class Pool {
 public:
  explicit Pool(bool address_space_only)
      : address_space_only_(address_space_only),
        ranges_begin_(reinterpret_cast<std::byte*>((16 + pools_made++ % 64) << 40)) {}

  void* take(size_t bytes, uint32_t& size_class) {
    if (bytes > most_bytes) throw std::bad_alloc();
    size_class = class_of(bytes);
    const bool listed = size_class < range_bit;
    void* block = listed ? pop(free_[size_class]) : from_ranges(capacity_of(size_class));
    if (block == nullptr) block = new_block(size_class);
    unpoison(block, bytes);
    stats.live_bytes += static_cast<int64_t>(capacity_of(size_class));
    stats.peak_bytes = std::max(stats.peak_bytes, stats.live_bytes);
    most_used_ = std::max(most_used_, stats.live_bytes);
    return block;
  }

  void give(void* block, uint32_t size_class) {
    stats.live_bytes -= static_cast<int64_t>(capacity_of(size_class));
    if (size_class < range_bit) {
      push(block, free_[size_class], capacity_of(size_class));
    } else {
      add_range(static_cast<std::byte*>(block), capacity_of(size_class));
    }
  }

  // Begins anew: returns what is free to the system, but for the blocks of lists. The next dry run
  // counts these, too, when it takes them.
  void trim() {
    trim(most_bytes);
    for (uint32_t c = 1; c < classes && address_space_only_; ++c) {
      while (void* const block = pop(free_[c])) {
        push(block, uncounted_[c], capacity_of(c));
        stats.reserved_bytes -= static_cast<int64_t>(capacity_of(c));
      }
    }
    most_used_ = stats.live_bytes;
    if (stats.live_bytes == 0) ranges_end_ = ranges_begin_;
  }

  PoolStats stats;

 private:
  using Ranges = std::map<std::byte*, size_t>;  // bytes from an address on

  // Returns free ranges to the system until `bytes` are.
  void trim(int64_t bytes) {
    while (bytes > 0 && !ranges_.empty()) {
      const auto [start, size] = *ranges_.begin();
      const size_t part = std::min(size, round_up(static_cast<size_t>(bytes), page));
      ranges_.erase(ranges_.begin());
      if (part < size) ranges_.emplace(start + part, size - part);
      unpoison(start, part);
      munmap(start, part);
      stats.reserved_bytes -= static_cast<int64_t>(part);
      bytes -= static_cast<int64_t>(part);
    }
  }

  // Not in the pool of address space: the sanitizer's shadow of terabytes would be real memory.
  void poison(void* block, size_t bytes) const {
    if (!address_space_only_) ASAN_POISON_MEMORY_REGION(block, bytes);
  }
  void unpoison(void* block, size_t bytes) const {
    if (!address_space_only_) ASAN_UNPOISON_MEMORY_REGION(block, bytes);
  }

  void push(void* block, void*& list, size_t capacity) {
    std::memcpy(block, &list, sizeof(void*));
    list = block;
    poison(block, capacity);
  }

  void* pop(void*& list) {
    void* block = list;
    if (block != nullptr) {
      unpoison(block, sizeof(void*));
      std::memcpy(&list, block, sizeof(void*));
    }
    return block;
  }

  // The beginning of the smallest free range of at least `bytes`.
  void* from_ranges(size_t bytes) {
    const auto none = ranges_.end();
    auto best = none;
    for (auto each = ranges_.begin(); each != none; ++each) {
      if (each->second >= bytes && (best == none || each->second < best->second)) best = each;
    }
    if (best == none) best = more_ranges(bytes);
    const auto [start, size] = *best;
    ranges_.erase(best);
    if (size > bytes) ranges_.emplace(start + bytes, size - bytes);
    return start;
  }

  // Makes `bytes` from `start` on a free range, one with those that it touches.
  Ranges::iterator add_range(std::byte* start, size_t bytes) {
    poison(start, bytes);
    auto next = ranges_.lower_bound(start);
    if (next != ranges_.end() && next->first == start + bytes) {
      bytes += next->second;
      next = ranges_.erase(next);
    }
    if (next == ranges_.begin()) return ranges_.emplace_hint(next, start, bytes);
    const auto before = std::prev(next);
    if (before->first + before->second != start) return ranges_.emplace_hint(next, start, bytes);
    before->second += bytes;
    return before;
  }

  // Maps `bytes` behind the last range, and returns the free range in which they are. Where more
  // would be reserved than ever was in use at a time, by a tenth and 2 MiB, free ranges make
  // room: batches of many lengths must not take the memory of all lengths together.
  Ranges::iterator more_ranges(size_t bytes) {
    const auto more = static_cast<int64_t>(bytes);
    const int64_t used = std::max(most_used_, stats.live_bytes + more);
    trim(stats.reserved_bytes + more - used / 10 * 11 - (int64_t{2} << 20));
    std::byte* const start = map_pages(bytes, address_space_only_, ranges_end_);
    ++stats.misses;
    stats.reserved_bytes += more;
    if (stats.reserved_bytes >= huge_pool && !address_space_only_) {
      madvise(start, bytes, MADV_HUGEPAGE);
    }
    ranges_end_ = start + bytes;
    return add_range(start, bytes);
  }

  // What is left of a chunk.
  struct Chunk {
    std::byte* next = nullptr;
    size_t left = 0;
  };

  void* new_block(uint32_t c) {
    const size_t capacity = capacity_of(c);
    stats.reserved_bytes += static_cast<int64_t>(capacity);
    if (void* const block = pop(uncounted_[c])) return block;
    Chunk& chunk = chunks_[c];
    if (chunk.left < capacity) {
      ++stats.misses;
      chunk = {map_pages(chunk_bytes, address_space_only_), chunk_bytes};
      poison(chunk.next, chunk_bytes);
    }
    chunk.left -= capacity;
    return std::exchange(chunk.next, chunk.next + capacity);
  }

  static constexpr uint32_t classes = class_of(listed_block) + 1;

  const bool address_space_only_;
  int64_t most_used_ = 0;                            // the largest live_bytes since trim()
  std::array<void*, classes> free_{}, uncounted_{};  // uncounted: of dry runs before
  std::array<Chunk, classes> chunks_{};
  Ranges ranges_;  // free ones
  std::byte* const ranges_begin_;
  std::byte* ranges_end_ = ranges_begin_;  // where the last one that was mapped ends
};

// The pools of a thread. They outlive it, with the blocks that other threads still use.
struct Pools {
  Pool of_memory{false}, of_address_space{true};
  Pools* next = nullptr;
};

constinit std::mutex spare_mutex;
// A list of the pools of threads that have ended. The next new threads take them.
constinit Pools* spare_pools = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local Pools* own_pools = nullptr;

// Puts the pools on that list when the thread ends. Arrays that outlive it find them there.
struct Return {
  ~Return() {
    const std::lock_guard lock(spare_mutex);
    own_pools->next = spare_pools;
    spare_pools = std::exchange(own_pools, nullptr);
  }
};

[[gnu::cold, gnu::noinline]] Pools& find_own() {
  {
    const std::lock_guard lock(spare_mutex);
    own_pools = spare_pools != nullptr ? std::exchange(spare_pools, spare_pools->next) : new Pools;
  }
  thread_local const Return at_end;
  return *own_pools;
}

Pool& pool_for(bool dry) {
  Pools& pools = own_pools != nullptr ? *own_pools : find_own();
  return dry ? pools.of_address_space : pools.of_memory;
}

}  // namespace

namespace pool {

void* take(size_t bytes, uint32_t& size_class) {
  const bool dry = dry_run();
  void* block = pool_for(dry).take(bytes, size_class);
  size_class |= dry ? dry_bit : 0;
  return block;
}

void give(void* block, uint32_t size_class) noexcept {
  pool_for((size_class & dry_bit) != 0).give(block, size_class & ~dry_bit);
}

PoolStats stats() { return pool_for(dry_run()).stats; }

void reset_peak() {
  PoolStats& stats = pool_for(dry_run()).stats;
  stats.peak_bytes = stats.live_bytes;
}

void trim() { pool_for(dry_run()).trim(); }

}  // namespace pool

Storage* Storage::make(size_t bytes) {
  uint32_t size_class = 0;
  void* block = pool::take(sizeof(Storage) + bytes, size_class);
  auto* storage = new (block) Storage;
  storage->size_class = size_class;
  return storage;
}

void Storage::destroy(Storage* storage) noexcept { pool::give(storage, storage->size_class); }

DryRun::DryRun() {
  require<GraphError>(!dry_run(), "dry run: one is already under way");
  detail::dry_run_active = true;
  pool::reset_peak();
}

DryRun::~DryRun() {
  pool::trim();
  detail::dry_run_active = false;
}

}  // namespace heed
