// The memory pool. Freed blocks are kept in free lists by size class, so that a training step takes
// all its memory from the previous one and makes no system call. Not thread-safe: one thread drives
// the engine, and the bodies of parallel loops never allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace heed {

struct PoolStats {
  int64_t live_bytes = 0;      // in blocks that are in use
  int64_t peak_bytes = 0;      // the largest live_bytes since reset_peak()
  int64_t reserved_bytes = 0;  // taken from the system: in use or in a free list
  int64_t misses = 0;          // system calls for more memory
};

namespace pool {

// Returns a block of at least `bytes`, 64-byte aligned, and in `size_class` its list: pass both to
// give(). Throws std::bad_alloc if the system has no more memory.
void* take(size_t bytes, uint32_t& size_class);
void give(void* block, uint32_t size_class) noexcept;

// Of the current pool: during a dry run, the pool of address space.
PoolStats stats();
void reset_peak();

// Returns the large free blocks (above 4 KiB) to the system.
void trim();

}  // namespace pool

// While one exists, dry_run() is true and blocks come from a second pool, which reserves address
// space only. A computation then runs without its numbers, and pool::stats() and flop_count() give
// the memory and arithmetic that it would take. The plan before training and `heed inspect` use
// this for any layer. GraphError if one exists already.
class DryRun {
 public:
  DryRun();
  ~DryRun();
  DryRun(const DryRun&) = delete;
  DryRun& operator=(const DryRun&) = delete;
};

// A ref-counted block of bytes, which follow this header. `version` counts how often the value was
// rewritten after other arrays could see it.
struct alignas(64) Buffer {
  uint32_t refs = 1;
  uint32_t version = 0;
  uint32_t size_class = 0;

  std::byte* bytes() { return reinterpret_cast<std::byte*>(this + 1); }

  static Buffer* make(size_t bytes);
  static void destroy(Buffer* buffer) noexcept;
};
static_assert(sizeof(Buffer) == 64, "what follows the header must stay 64-byte aligned");

// Owns one reference to a Buffer, or none. The count is not atomic.
class BufferRef {
 public:
  BufferRef() = default;
  explicit BufferRef(Buffer* adopted) : buffer_(adopted) {}
  BufferRef(const BufferRef& other) : buffer_(other.buffer_) {
    if (buffer_ != nullptr) {
      ++buffer_->refs;
    }
  }
  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~BufferRef() {
    if (buffer_ != nullptr && --buffer_->refs == 0) {
      Buffer::destroy(buffer_);
    }
  }

  Buffer* get() const { return buffer_; }
  Buffer* operator->() const { return buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }

 private:
  Buffer* buffer_ = nullptr;
};

}  // namespace heed
