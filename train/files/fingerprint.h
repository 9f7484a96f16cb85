// Checksums of files and of bytes in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

struct XXH64_state_s;  // of libxxhash

namespace heed {

using Bytes = std::span<const std::byte>;

// A file's contents in brief: the length in bytes and their XXH64 with seed 0 (Y. Collet, "xxHash
// fast digest algorithm"). It detects damage, not forgery, at the speed of memory.
struct Fingerprint {
  int64_t bytes = 0;
  uint64_t xxh64 = 0;

  bool operator==(const Fingerprint&) const = default;

  // "xxh64:44bc2cf5ad770999:3": algorithm, 16 hexadecimal digits, length.
  std::string text() const;
  // "k7qz-m2ra": 40 bits of the hash in letters and digits that sound unlike each other.
  std::string letters() const;
};

Fingerprint fingerprint(Bytes bytes);
Fingerprint fingerprint_file(const std::filesystem::path& path);

// The fingerprint of bytes that come in parts.
class RunningFingerprint {
 public:
  RunningFingerprint();
  void add(Bytes bytes);
  Fingerprint so_far() const;

 private:
  struct Free {
    void operator()(XXH64_state_s* state) const;
  };
  std::unique_ptr<XXH64_state_s, Free> state_;
  int64_t bytes_ = 0;
};

}  // namespace heed
