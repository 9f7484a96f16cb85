// Checksums of files and of bytes in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "train/files/xxh64.h"

namespace heed {

// A file's contents in brief: the length in bytes and their XXH64 with seed 0.
struct Fingerprint {
  int64_t bytes = 0;
  uint64_t xxh64 = 0;

  bool operator==(const Fingerprint&) const = default;

  // "xxh64:44bc2cf5ad770999:3": algorithm, 16 hexadecimal digits, length.
  std::string text() const;
};

Fingerprint fingerprint(Bytes bytes);
Fingerprint fingerprint_file(const std::filesystem::path& path);

}  // namespace heed
