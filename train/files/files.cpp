#include "train/files/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "autograd/base/rethrow.h"
#include "layers/text/display.h"
#include "train/files/on_failure.h"
#include "train/files/temporary.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

constexpr size_t buffer_bytes = size_t{1} << 17;

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// Of a folder: a rename in it survives a power failure only after this.
void flush_path(const fs::path& path) {
  const FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    fail_errno(path, "cannot open", errno);
  }
  flush_to_disk(file.get(), path);
}

void rename_path(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    fail_errno(to, "cannot write", errno);
  }
}

// The file to replace: the target of a symbolic link that is followed, or the path itself. Refuses
// a device, which root could otherwise rename over.
fs::path replaceable(const fs::path& path, Links links) {
  if (links == Links::refuse) {
    require_no_link(path);
  }
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    require<IoError>(!fs::is_symlink(path, error), path.string(),
                     ": cannot write: a symbolic link to nothing");
    return path;
  }
  if (status.type() == fs::file_type::none) {
    fail_errno(path, "cannot write", error.value());
  }
  require<IoError>(fs::is_regular_file(status), path.string(),
                   ": cannot write: it exists and is not a regular file");
  return links == Links::follow && fs::is_symlink(path, error) ? fs::canonical(path) : path;
}

}  // namespace

bool is_plain_name(const std::string& name) {
  return !name.empty() && name.size() <= 255 && name[0] != '.' &&
         name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

void fail_errno(const fs::path& path, std::string_view what, int error) {
  fail<IoError>(printable(path.string(), 1000), ": ", what, ": ",
                std::generic_category().message(error));
}

void require_no_link(const fs::path& path) {
  std::error_code missing;
  require<IoError>(!fs::is_symlink(path, missing), path.string(),
                   ": is a symbolic link; heed writes through none inside a run folder; put the ",
                   "file or folder itself there");
}

// ---- Reading

FileHandle::~FileHandle() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

// The system reads a path up to its first NUL, so another file than the one named would be opened.
static fs::path checked_name(fs::path path) {
  require<IoError>(!path.empty(), "expected the name of a file, got nothing");
  require<IoError>(path.native().find('\0') == std::string::npos, printable(path.string(), 1000),
                   ": cannot open: a path has no NUL character");
  return path;
}

// O_NONBLOCK: opening a pipe that has no writer must not block. Regular files ignore it.
FileReader::FileReader(fs::path path)
    : path_(checked_name(std::move(path))),
      file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (file_.get() < 0) {
    fail_errno(path_, "cannot open", errno);
  }
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) {
    fail_errno(path_, "cannot read", errno);
  }
  require<IoError>(S_ISREG(status.st_mode), path_.string(), ": cannot read: expected a file, got ",
                   S_ISDIR(status.st_mode) ? "a folder" : "a pipe, device or socket");
  size_ = status.st_size;
  constexpr std::string_view pointer = "version https://git-lfs.github.com/spec/";
  std::string begin(size_ < 1024 ? pointer.size() : 0, ' ');  // a pointer is shorter
  const ssize_t count = ::pread(file_.get(), begin.data(), begin.size(), 0);
  require<IoError>(count <= 0 || begin != pointer, path_.string(),
                   ": is a Git LFS pointer: git lfs pull fetches the file");
}

void FileReader::read(int64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t count = ::pread(file_.get(), out.data(), out.size(), offset);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      fail_errno(path_, "cannot read", errno);
    }
    require<IoError>(count != 0, path_.string(), ": cannot read: the file ends at byte ", offset,
                     ", it had ", size_, " bytes when it was opened");
    out = out.subspan(static_cast<size_t>(count));
    offset += count;
  }
}

std::string FileReader::whole() const {
  std::string bytes(static_cast<size_t>(size_), '\0');
  read(0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

std::string read_file(const fs::path& path, int64_t max_bytes) {
  const FileReader file(path);
  require<IoError>(file.size() <= max_bytes, path.string(), ": expected at most ", max_bytes,
                   " bytes, got ", file.size());
  return file.whole();
}

// ---- Writing

void flush_to_disk(int descriptor, const fs::path& path) {
  while (::fsync(descriptor) != 0) {
    // Some file systems cannot flush a folder and report EINVAL. Nothing more can be done then.
    if (errno == EINVAL) {
      return;
    }
    if (errno != EINTR) {
      fail_errno(path, "cannot flush to the disk", errno);
    }
  }
}

FileHandle open_in_place(const fs::path& path, int flags) {
  // O_NONBLOCK: a pipe without a reader must not block.
  constexpr int always = O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  FileHandle file(::open(path.c_str(), flags | always, 0666));
  if (file.get() < 0) {
    const int error = errno;
    require_no_link(path);
    require<IoError>(error != ENXIO, path.string(),
                     ": cannot write: it exists and is not a regular file");  // a pipe
    fail_errno(path, "cannot write", error);
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    fail_errno(path, "cannot write", errno);
  }
  require<IoError>(S_ISREG(status.st_mode), path.string(),
                   ": cannot write: it exists and is not a regular file");
  require<IoError>(status.st_nlink <= 1, path.string(), ": cannot write: the file has ",
                   status.st_nlink, " names (hard links) and would change under each; put a copy ",
                   "in its place");
  return file;
}

FileWriter::FileWriter(const fs::path& target, Links links)
    : target_(replaceable(target, links)),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(buffer_bytes)) {
  struct stat before {};
  const bool replaces = ::stat(target_.c_str(), &before) == 0;
  const mode_t mode = replaces ? before.st_mode & 0777 : 0666;
  temporary_ = make_temporary(target_, [&](const fs::path& candidate) {
    file_ = FileHandle(::open(candidate.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    return file_.get() >= 0 ? 0 : errno;
  });
  mark_as_written(file_.get());
  if (replaces) {  // puts back what the umask took; some file systems have no such bits
    (void)::fchmod(file_.get(), mode);
  }
}

FileWriter::~FileWriter() {
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
  }
}

void FileWriter::write(Bytes bytes) {
  print_.add(bytes);
  if (bytes.size() > buffer_bytes - buffered_) {
    flush();
  }
  if (bytes.size() > buffer_bytes) {
    write_through(bytes);
  } else {
    std::copy_n(bytes.data(), bytes.size(), buffer_.get() + buffered_);
    buffered_ += bytes.size();
  }
}

void FileWriter::flush() {
  write_through({buffer_.get(), buffered_});
  buffered_ = 0;
}

void FileWriter::write_through(Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) {
      fail_errno(target_, "cannot write", errno);
    }
    bytes = bytes.subspan(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  }
}

Fingerprint FileWriter::commit() {
  flush();
  flush_to_disk(file_.get(), target_);
  // After EINTR the descriptor is closed anyway, and the data is already on the disk.
  if (::close(file_.release()) != 0 && errno != EINTR) {
    fail_errno(target_, "cannot write", errno);
  }
  rename_path(temporary_, target_);
  temporary_.clear();
  flush_path(folder_of(target_));
  return print_.so_far();
}

Fingerprint write_file_atomically(const fs::path& path,
                                  const std::function<void(FileWriter&)>& produce, Links links) {
  FileWriter writer(path, links);
  produce(writer);
  return writer.commit();
}

Fingerprint write_file_atomically(const fs::path& path, std::string_view bytes, Links links) {
  return write_file_atomically(
      path, [&](FileWriter& out) { out.write(as_bytes(bytes)); }, links);
}

void replace_link(const fs::path& link, const fs::path& target) {
  const fs::path temporary = make_temporary(link, [&](const fs::path& candidate) {
    return ::symlink(target.c_str(), candidate.c_str()) == 0 ? 0 : errno;
  });
  const OnFailure remove([&] { ::unlink(temporary.c_str()); });
  rename_path(temporary, link);
  flush_path(folder_of(link));
}

// ---- Folders

namespace {

// Flushes everything below `folder` before the folder itself, so that names never precede contents.
void sync_tree(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_symlink()) {
      flush_path(entry.path());
    }
  }
  flush_path(folder);
}

// Renames `temporary` to `path`. An existing folder at `path` is swapped to `temporary`, so that
// `path` never disappears, except on file systems without atomic exchange.
void put_in_place(const fs::path& temporary, const fs::path& path, Existing existing) {
  if (existing == Existing::refuse) {
    // An empty folder of ours, which a rename replaces. Somebody else's is not.
    require<IoError>(::mkdir(path.c_str(), 0777) == 0 || errno != EEXIST, path.string(),
                     ": has appeared meanwhile; it stays, and nothing was written");
    const OnFailure remove([&] { ::rmdir(path.c_str()); });
    rename_path(temporary, path);
    return;
  }
  if (!fs::exists(fs::symlink_status(path))) {
    rename_path(temporary, path);
    return;
  }
#ifdef RENAME_EXCHANGE
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0) {
    return;
  }
#endif
  const fs::path aside = make_temporary(path, [&](const fs::path& candidate) {
    return ::rename(path.c_str(), candidate.c_str()) == 0 ? 0 : errno;
  });
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    rename_path(aside, path);
    fail_errno(path, "cannot write", error);
  }
  rename_path(aside, temporary);
}

struct RemovedAtEnd {
  const fs::path path;
  ~RemovedAtEnd() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

// The message with the name of the folder in place of that of the temporary one.
std::string with_final_name(std::string message, const fs::path& temporary,
                            const fs::path& target) {
  const std::string from = temporary.filename().string();
  const std::string to = printable(target.filename().string(), 1000);
  for (size_t at = 0; (at = message.find(from, at)) != std::string::npos; at += to.size()) {
    message.replace(at, from.size(), to);
  }
  return message;
}

}  // namespace

void write_folder_atomically(const fs::path& path, const std::function<void(const fs::path&)>& fill,
                             Existing existing) {
  const fs::path target = path.has_filename() ? path : path.parent_path();
  std::error_code hidden;  // in a folder that may not be searched: making the temporary says so
  const fs::file_status status = fs::symlink_status(target, hidden);
  require<IoError>(!fs::exists(status) || fs::is_directory(status), target.string(),
                   ": cannot write: it exists and is not a folder");
  const fs::path temporary = make_temporary(target, [](const fs::path& candidate) {
    return ::mkdir(candidate.c_str(), 0777) == 0 ? 0 : errno;
  });
  const FileHandle written(::open(temporary.c_str(), O_RDONLY | O_CLOEXEC));
  mark_as_written(written.get());
  const RemovedAtEnd in_any_case{temporary};
  const auto wrong = error_of<IoError>([&] {
    try {
      fill(temporary);
      sync_tree(temporary);
      put_in_place(temporary, target, existing);
      flush_path(folder_of(target));
    } catch (const fs::filesystem_error& error) {
      fail_errno(target, "cannot write", error.code().value());
    }
  });
  if (wrong) {
    fail<IoError>(with_final_name(*wrong, temporary, target));
  }
}

}  // namespace heed
