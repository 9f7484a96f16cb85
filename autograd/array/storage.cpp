#include "autograd/array/storage.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
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
//   up to 4 KiB   from the free list of its class; if that is empty, from the rest of a chunk of
//                 256 KiB, mapped for blocks of this class. Pages that no block was cut from yet
//                 take no memory
//   above         from the free list of its class or of one of the next two; else mapped by itself
//   from 8 MiB    as above, on 2 MiB pages, which need fewer TLB entries
// Memory goes back to the system in trim() and where free blocks are more than a tenth.
constexpr size_t unit = 64;           // every block is a multiple of a cache line
constexpr size_t small_block = 4096;  // the largest block that is cut from a chunk
constexpr size_t chunk_bytes = 256 * 1024;
constexpr size_t huge_block = 8 * 1024 * 1024;  // the smallest block on 2 MiB pages
constexpr size_t huge_page = 2 * 1024 * 1024;
constexpr size_t most_bytes = size_t{1} << 52;   // more than any machine can address
constexpr uint32_t dry_bit = uint32_t{1} << 31;  // set in the size class of a dry run's block

// Size classes, for a request of u units of 64 bytes. There are eight per doubling, so that a block
// is at most an eighth larger than the request:
//   u < 8                class u, of u units
//   2^e <= u < 2^(e+1)   class 8 (e-3) + m, of m 2^(e-3) units, where m = ceil(u / 2^(e-3))
constexpr uint32_t class_of(size_t bytes) {
  const size_t units = std::max<size_t>(1, (bytes + unit - 1) / unit);
  if (units < 8) {
    return static_cast<uint32_t>(units);
  }
  const unsigned shift = static_cast<unsigned>(std::bit_width(units)) - 4;
  const size_t eighths = (units + (size_t{1} << shift) - 1) >> shift;
  return static_cast<uint32_t>(8 * shift + eighths);
}

size_t capacity_of(uint32_t size_class) {
  if (size_class < 16) {
    return size_class * unit;
  }
  const unsigned shift = size_class / 8 - 1;
  return (size_t{size_class - 8 * shift} << shift) * unit;
}

// Maps `bytes`, of which the first `used` will be written. From 8 MiB on, the part that `used`
// bytes fill is on 2 MiB pages. The rest, which the size class adds, stays on small pages that are
// never touched and so take no memory.
void* map_pages(size_t bytes, size_t used, bool address_space_only) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (address_space_only ? MAP_NORESERVE : 0);
  // The block must begin at a multiple of 2 MiB: map one page more and unmap both ends.
  const bool huge = bytes >= huge_block && !address_space_only;
  const size_t mapped = huge ? bytes + huge_page : bytes;
  void* start = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (start == MAP_FAILED) {
    throw std::bad_alloc();
  }
  if (!huge) {
    return start;
  }
  const size_t address = reinterpret_cast<size_t>(start);
  const size_t aligned = (address + huge_page - 1) / huge_page * huge_page;
  if (aligned > address) {
    munmap(start, aligned - address);
  }
  const size_t tail = address + mapped - (aligned + bytes);
  if (tail > 0) {
    munmap(reinterpret_cast<void*>(aligned + bytes), tail);
  }
  void* block = reinterpret_cast<void*>(aligned);
  madvise(block, used / huge_page * huge_page, MADV_HUGEPAGE);
  return block;
}

// The free lists. A free block holds the pointer to the next one of its list in its first bytes, so
// the lists need no memory.
class Pool {
 public:
  explicit constexpr Pool(bool address_space_only) : address_space_only_(address_space_only) {}

  void* take(size_t bytes, uint32_t& size_class) {
    if (bytes > most_bytes) {
      throw std::bad_alloc();
    }
    size_class = class_of(bytes);
    void* block = pop(size_class);
    if (block == nullptr) {
      block = from_system(bytes, size_class);
    }
    unpoison(block, bytes);
    stats.live_bytes += static_cast<int64_t>(capacity_of(size_class));
    stats.peak_bytes = std::max(stats.peak_bytes, stats.live_bytes);
    most_used_ = std::max(most_used_, stats.live_bytes);
    return block;
  }

  void give(void* block, uint32_t size_class) {
    stats.live_bytes -= static_cast<int64_t>(capacity_of(size_class));
    push(block, size_class);
  }

  // Returns free blocks of classes below `end` to the system, large ones first, until `bytes` are.
  void trim(uint32_t end = classes, int64_t bytes = most_bytes) {
    for (uint32_t c = end - 1; c > class_of(small_block); --c) {
      for (void* block = nullptr; bytes > 0 && (block = pop(c)) != nullptr;) {
        unpoison(block, capacity_of(c));
        munmap(block, round_to_pages(capacity_of(c)));
        stats.reserved_bytes -= static_cast<int64_t>(capacity_of(c));
        bytes -= static_cast<int64_t>(capacity_of(c));
      }
    }
  }

  PoolStats stats;

 private:
  // As many more than the largest request needs as from_system may try.
  static constexpr uint32_t near_classes = 2, far_classes = 16;
  static constexpr uint32_t classes = class_of(most_bytes) + far_classes + 1;

  static size_t round_to_pages(size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

  // Not in the pool of address space: the sanitizer's shadow of terabytes would be real memory.
  void poison(void* block, size_t bytes) const {
    if (!address_space_only_) ASAN_POISON_MEMORY_REGION(block, bytes);
  }
  void unpoison(void* block, size_t bytes) const {
    if (!address_space_only_) ASAN_UNPOISON_MEMORY_REGION(block, bytes);
  }

  void push(void* block, uint32_t c) {
    std::memcpy(block, &free_[c], sizeof(void*));
    free_[c] = block;
    poison(block, capacity_of(c));
  }

  void* pop(uint32_t c) {
    void* block = free_[c];
    if (block != nullptr) {
      unpoison(block, sizeof(void*));
      std::memcpy(&free_[c], block, sizeof(void*));
    }
    return block;
  }

  void* from_system(size_t bytes, uint32_t& size_class) {
    const size_t capacity = capacity_of(size_class);
    if (capacity <= small_block) {
      return cut(capacity, chunks_[size_class]);
    }
    // Reusing a free block of a larger class beats mapping a new one. At most a quarter is wasted.
    // But batches of many lengths must not take the memory of all lengths together. Where more is
    // reserved than ever was in use at a time, by a tenth and 2 MiB, a free block may be four times
    // as large, and smaller ones make room for a new one.
    const auto more = static_cast<int64_t>(capacity);
    const int64_t used = std::max(most_used_, stats.live_bytes + more);
    const int64_t excess = stats.reserved_bytes + more - used / 10 * 11 - int64_t{huge_page};
    const uint32_t last = size_class + (excess > 0 ? far_classes : near_classes);
    for (uint32_t larger = size_class + 1; larger <= last; ++larger) {
      if (void* block = pop(larger)) {
        size_class = larger;
        return block;
      }
    }
    trim(size_class, excess);
    ++stats.misses;
    stats.reserved_bytes += static_cast<int64_t>(capacity);
    return map_pages(round_to_pages(capacity), bytes, address_space_only_);
  }

  // What is left of a chunk.
  struct Chunk {
    std::byte* next = nullptr;
    size_t left = 0;
  };

  void* cut(size_t capacity, Chunk& chunk) {
    if (chunk.left < capacity) {
      ++stats.misses;
      void* const pages = map_pages(chunk_bytes, chunk_bytes, address_space_only_);
      poison(pages, chunk_bytes);
      chunk = {static_cast<std::byte*>(pages), chunk_bytes};
    }
    stats.reserved_bytes += static_cast<int64_t>(capacity);
    chunk.left -= capacity;
    return std::exchange(chunk.next, chunk.next + capacity);
  }

  const bool address_space_only_;
  int64_t most_used_ = 0;  // the largest live_bytes ever
  std::array<void*, classes> free_{};
  std::array<Chunk, class_of(small_block) + 1> chunks_{};
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
