// Files that are there whole or not at all, reading that trusts nothing, and checksums.
// Every failure is an IoError that begins with the path and ends with the reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "train/files/xxh64.h"

namespace heed {

inline Bytes as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

// What a file held: its length in bytes and their XXH64 with seed 0.
struct Fingerprint {
  int64_t bytes = 0;
  uint64_t xxh64 = 0;

  bool operator==(const Fingerprint&) const = default;

  // "xxh64:44bc2cf5ad770999:3": algorithm, 16 hexadecimal digits, length.
  std::string text() const;
};

Fingerprint fingerprint(Bytes bytes);
Fingerprint fingerprint_file(const std::filesystem::path& path);

// Owns an open file.
class FileHandle {
 public:
  explicit FileHandle(int descriptor = -1) : descriptor_(descriptor) {}
  FileHandle(FileHandle&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileHandle& operator=(FileHandle&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileHandle();

  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

// A regular file open for reading; anything else (a folder, a pipe, a device) is refused, without
// waiting for it. The length is that of the moment it was opened, known before anything is read.
class FileReader {
 public:
  explicit FileReader(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  int64_t size() const { return size_; }

  // Bytes [offset, offset + out.size()), all of them or an IoError.
  void read(int64_t offset, std::span<std::byte> out) const;

 private:
  std::filesystem::path path_;
  FileHandle file_;
  int64_t size_ = 0;
};

// The whole file; one longer than `max_bytes` is refused before memory is taken for it.
std::string read_file(const std::filesystem::path& path, int64_t max_bytes);

// The bytes of a file in the making; passed to the callback of write_file_atomically.
class FileWriter {
 public:
  explicit FileWriter(const std::filesystem::path& target);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter();  // removes the temporary file unless commit() succeeded

  void write(Bytes bytes);

  // Flushes to the disk and gives the file its name. To be called once.
  Fingerprint commit();

 private:
  void write_through(Bytes bytes);
  void flush();

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  FileHandle file_;
  std::unique_ptr<std::byte[]> buffer_;
  size_t buffered_ = 0;
  Xxh64 hash_;
  int64_t size_ = 0;
};

// Replaces `path` or leaves it as it was: a temporary file in the same folder, flushed to the disk,
// renamed, and the folder flushed. A symbolic link stays and what it points to is replaced; a path
// that is there but is no regular file is refused. Returns the fingerprint of what was written.
// A process that may meet a file size limit must ignore SIGXFSZ to see it as an error.
Fingerprint write_file_atomically(const std::filesystem::path& path, std::string_view bytes);
Fingerprint write_file_atomically(const std::filesystem::path& path, std::span<const Bytes> parts);
Fingerprint write_file_atomically(const std::filesystem::path& path,
                                  const std::function<void(FileWriter&)>& produce);

// Makes `link` a symbolic link to `target`; one that is there is replaced, never absent.
void replace_link(const std::filesystem::path& link, const std::filesystem::path& target);

// Flushes the names in a folder to the disk: a rename is only lasting after this.
void fsync_dir(const std::filesystem::path& folder);

// The same for a folder: `fill` writes into a temporary one beside `path` (whose parent exists);
// all that is in it is flushed and it gets its name. A folder that is there is exchanged in one
// step and then removed. If `fill` throws, nothing has happened.
void write_folder_atomically(const std::filesystem::path& path,
                             const std::function<void(const std::filesystem::path&)>& fill);

// Removes from `folder` the temporaries (".tmp-<process>-<number>") of processes that have ended,
// and returns how many there were. A folder that does not exist has none.
int remove_leftovers(const std::filesystem::path& folder);

}  // namespace heed
