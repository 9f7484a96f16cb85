// A checksum for detecting damaged files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace heed {

using Bytes = std::span<const std::byte>;

// XXH64 of a stream of bytes (Y. Collet, "xxHash fast digest algorithm", version 0.1.1). It detects
// damage, not forgery. Chosen because it runs at memory speed and needs no library.
class Xxh64 {
 public:
  explicit Xxh64(uint64_t seed = 0);
  void update(Bytes bytes);
  uint64_t digest() const;

 private:
  void consume_stripe(const std::byte* stripe);

  uint64_t seed_;
  uint64_t lanes_[4];
  std::byte pending_[32] = {};  // the last size_ % 32 bytes
  uint64_t size_ = 0;
};

}  // namespace heed
