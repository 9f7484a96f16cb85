// The memory pool. Freed blocks are kept in free lists and ranges, so that a training step takes
// all its memory from the previous one and makes no system call. Each thread that computes has its
// own pool, and none waits for another; the bodies of parallel loops never allocate. A block may be
// given back on another thread than the one that took it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace heed {

struct PoolStats {
  int64_t live_bytes = 0;      // in blocks that are in use
  int64_t peak_bytes = 0;      // the largest live_bytes since reset_peak()
  int64_t reserved_bytes = 0;  // taken from the system: in use or free
  int64_t misses = 0;          // system calls for more memory
};

namespace pool {

// Returns a block of at least `bytes`, 64-byte aligned, and in `size_class` its list: pass both to
// give(). Throws std::bad_alloc if the system has no more memory.
void* take(size_t bytes, uint32_t& size_class);
void give(void* block, uint32_t size_class) noexcept;

// The state of this thread's pool; during a dry run, of its pool of address space.
PoolStats stats();
void reset_peak();

// Returns the large free blocks (above 64 KiB) to the system.
void trim();

}  // namespace pool

// While one exists, dry_run() is true on its thread, and blocks come from a second pool, which
// reserves address space only. A computation then runs without its numbers, and pool::stats() and
// flop_count() give the memory and arithmetic that it would take. The plan before training and
// `heed inspect` use this for any layer. GraphError if the thread has one already.
class DryRun {
 public:
  DryRun();
  ~DryRun();
  DryRun(const DryRun&) = delete;
  DryRun& operator=(const DryRun&) = delete;
};

// A ref-counted block of bytes, which follow this header. `version` counts how often the value was
// rewritten after other arrays could see it.
struct alignas(64) Storage {
  uint32_t refs = 1;
  uint32_t version = 0;
  uint32_t size_class = 0;

  std::byte* bytes() { return reinterpret_cast<std::byte*>(this + 1); }

  static Storage* make(size_t bytes);
  static void destroy(Storage* storage) noexcept;
};
static_assert(sizeof(Storage) == 64, "what follows the header must stay 64-byte aligned");

// Owns one reference to a T, or none. T has a count `refs`, which is not atomic: one thread at a
// time holds references. It has a function destroy(T*), called when the count falls to 0.
template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* adopted) : target_(adopted) {}
  Ref(const Ref& other) : target_(other.target_) {
    if (target_ != nullptr) {
      ++target_->refs;
    }
  }
  Ref(Ref&& other) noexcept : target_(std::exchange(other.target_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(target_, other.target_);
    return *this;
  }
  ~Ref() {
    if (target_ != nullptr && --target_->refs == 0) {
      T::destroy(target_);
    }
  }

  T* get() const { return target_; }
  T* operator->() const { return target_; }
  explicit operator bool() const { return target_ != nullptr; }

 private:
  T* target_ = nullptr;
};

using StorageRef = Ref<Storage>;

}  // namespace heed
