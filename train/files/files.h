// Files that are written completely or not at all, defensive reading, and checksums. Every failure
// is an IoError that begins with the path and ends with the reason.
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

#include "train/files/fingerprint.h"

namespace heed {

inline Bytes as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

// True for a name that does not lead out of its folder, and does not begin with a dot.
bool is_plain_name(const std::string& name);

// False also for a path that cannot be looked at.
bool is_there(const std::filesystem::path& path);

// Throws the IoError "path: what: reason", with the reason of an errno.
[[noreturn]] void fail_errno(const std::filesystem::path& path, std::string_view what, int error);

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

// A regular file open for reading. Anything else (a folder, a pipe, a device) is refused without
// blocking. The length is taken when the file is opened, before anything is read.
class FileReader {
 public:
  explicit FileReader(std::filesystem::path path);

  int64_t size() const { return size_; }

  // Reads bytes [offset, offset + out.size()); throws IoError if there are fewer.
  void read(int64_t offset, std::span<std::byte> out) const;
  std::string whole() const;

 private:
  std::filesystem::path path_;
  FileHandle file_;
  int64_t size_ = 0;
};

// The whole file. One longer than `max_bytes` is refused before memory is allocated for it.
std::string read_file(const std::filesystem::path& path, int64_t max_bytes);

// Flushes an open file or folder to disk. `path` is for messages.
void flush_to_disk(int descriptor, const std::filesystem::path& path);

// A run folder may come from somebody else, and a link in it may point anywhere. Files whose names
// heed chooses itself are therefore written with `refuse`; `follow` is for names given by the user.
enum class Links { follow, refuse };

// Throws IoError if the path is a symbolic link.
void require_no_link(const std::filesystem::path& path);

// A file to be changed in place (O_WRONLY, O_APPEND, ...), made if it is missing. Refuses what
// could lead out of the folder: symbolic links, and files with further names (hard links).
FileHandle open_in_place(const std::filesystem::path& path, int flags);

// A file being written; passed to the callback of write_file_atomically.
class FileWriter {
 public:
  FileWriter(const std::filesystem::path& target, Links links);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter();  // removes the temporary file unless commit() succeeded

  void write(Bytes bytes);

  // Flushes to disk and renames the file to its final name. Must be called once.
  Fingerprint commit();

 private:
  void write_through(Bytes bytes);
  void flush();

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  FileHandle file_;
  std::unique_ptr<std::byte[]> buffer_;
  size_t buffered_ = 0;
  RunningFingerprint print_;
};

// Replaces the file `path`, or leaves it unchanged on failure: writes a temporary file in the same
// folder, flushes it, renames it and flushes the folder. A symbolic link is kept and its target
// replaced, or refused. An existing path that is not a regular file is refused. A file that is
// replaced keeps its permission bits: new contents are no reason to show a private file to others,
// or to lock a group out of a shared one. Its owner and group become those of the process. Returns
// the fingerprint of what was written. A process that may hit a file size limit must ignore SIGXFSZ
// to get an error instead.
Fingerprint write_file_atomically(const std::filesystem::path& path, std::string_view bytes,
                                  Links links = Links::follow);
Fingerprint write_file_atomically(const std::filesystem::path& path,
                                  const std::function<void(FileWriter&)>& produce,
                                  Links links = Links::follow);

// Makes `link` a symbolic link to `target`. An existing link is replaced atomically.
void replace_link(const std::filesystem::path& link, const std::filesystem::path& target);

// The same for a folder: `fill` writes into a temporary folder next to `path` (whose parent must
// exist), which is then flushed and renamed. An existing folder is exchanged in one step and then
// removed; with Existing::refuse one that comes while `fill` runs is an IoError. If `fill` throws,
// nothing changes; the message of an IoError names files in `path`, not in the temporary folder.
enum class Existing { replace, refuse };
void write_folder_atomically(const std::filesystem::path& path,
                             const std::function<void(const std::filesystem::path&)>& fill,
                             Existing existing = Existing::replace);

// Removes the temporaries (train/files/temporary.h) of ended processes from `folder` and returns
// their number; 0 if the folder does not exist. The next write next to them does so too, but leaves
// alone what it may not remove.
int remove_leftovers(const std::filesystem::path& folder);

}  // namespace heed
