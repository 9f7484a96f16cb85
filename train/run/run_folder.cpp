#include "train/run/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "autograd/base/error.h"
#include "layers/text/display.h"
#include "train/files/human_readable.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

void make_parents(const fs::path& folder) {
  if (folder.has_parent_path()) {
    std::error_code error;
    fs::create_directories(folder.parent_path(), error);
    if (error) {
      fail_errno(folder.parent_path(), "cannot make the folder", error.value());
    }
  }
}

// Creates the folder. False if the name is taken.
bool make_folder(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0777) == 0) {
    return true;
  }
  if (errno != EEXIST) {
    fail_errno(folder, "cannot make the folder", errno);
  }
  return false;
}

void require_writable(const fs::path& folder) {
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    fail_errno(folder, "cannot write into the folder", errno);
  }
}

void make_or_take(const fs::path& folder) {
  make_parents(folder);
  if (make_folder(folder)) {
    return;
  }
  std::error_code error;
  const bool is_folder = fs::is_directory(folder, error);
  require<ConfigError>(is_folder, "--out ", folder.string(), ": exists and is not a folder");
  const bool empty = fs::is_empty(folder, error);
  if (error) {
    fail_errno(folder, "cannot read the folder", error.value());
  }
  require<ConfigError>(empty, "--out ", folder.string(),
                       ": exists and is not empty; give another folder",
                       fs::exists(folder / stored_config, error)
                           ? ", or go on with that run: --resume " + shell_word(folder.string())
                           : "");
  require_writable(folder);
}

fs::path make_next(const std::string& name) {
  const fs::path first = fs::path("runs") / name;
  make_parents(first);
  fs::path folder = first;
  for (int64_t number = 2; !make_folder(folder); ++number) {
    folder = text(first.string(), "-", number);
  }
  return folder;
}

}  // namespace

// ---- AppendFile

AppendFile::AppendFile(fs::path path)
    : path_(std::move(path)), file_(open_in_place(path_, O_WRONLY | O_APPEND)) {}

void AppendFile::append(std::string_view text) {
  const int64_t begin = size();
  while (!text.empty()) {
    const ssize_t count = ::write(file_.get(), text.data(), text.size());
    if (count < 0 && errno != EINTR) {
      const int error = errno;
      // Half a row would make the file unreadable. If even this fails, nothing more can be done.
      [[maybe_unused]] const int ignored = ::ftruncate(file_.get(), begin);
      fail_errno(path_, "cannot write", error);
    }
    text.remove_prefix(count > 0 ? static_cast<size_t>(count) : 0);
  }
}

int64_t AppendFile::size() const {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) {
    fail_errno(path_, "cannot read", errno);
  }
  require<IoError>(status.st_nlink > 0, path_.string(),
                   ": cannot write: it was removed while the run was writing it");
  return status.st_size;
}

void AppendFile::cut(int64_t size) const {
  if (size < this->size() && ::ftruncate(file_.get(), size) != 0) {
    fail_errno(path_, "cannot write", errno);
  }
}

// ---- RunFolder

namespace {

// Describes the process that holds the lock, by what it wrote into the file.
std::string holder(int lock) {
  char words[200];
  const ssize_t count = ::pread(lock, words, sizeof words, 0);
  return count > 0 ? std::string(words, static_cast<size_t>(count)) : "another process";
}

FileHandle lock_run(const fs::path& run) {
  FileHandle lock = open_in_place(run / run_lock, O_RDWR);
  // Some network file systems do not support locks and fail with another error: continue unlocked.
  const bool held = ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  require<IoError>(!held, run.string(), ": ", holder(lock.get()),
                   " is training in this folder; wait for its end, or stop it");
  char host[100] = "";
  ::gethostname(host, sizeof host - 1);
  const std::string words = text("process ", ::getpid(), " on ", host);
  // The text is for people only; the lock works without it, even on a full disk.
  [[maybe_unused]] const bool written =
      ::ftruncate(lock.get(), 0) == 0 && ::pwrite(lock.get(), words.data(), words.size(), 0) > 0;
  return lock;
}

}  // namespace

RunFolder::RunFolder(fs::path path)
    : path_(std::move(path)),
      lock_(lock_run(path_)),
      log_(path_ / run_log),
      samples_(path_ / run_samples) {}

RunFolder RunFolder::create(const std::optional<fs::path>& out, const std::string& name) {
  if (!out) {
    return RunFolder(make_next(name));
  }
  const fs::path folder = out->has_filename() ? *out : out->parent_path();
  make_or_take(folder);
  return RunFolder(folder);
}

RunFolder RunFolder::open(const fs::path& run) {
  std::error_code error;
  const fs::file_status status = fs::status(run, error);
  require<IoError>(fs::is_directory(status), run.string(),
                   ": expected a run folder: ", error ? error.message() : "not a folder");
  require<IoError>(fs::exists(run / stored_config, error), run.string(),
                   ": expected a run folder: it has no config.yaml");
  require_writable(run);
  for (const char* name : files_of_run) {
    require_no_link(run / name);  // all of them before the first is changed
  }
  RunFolder folder(run);
  remove_leftovers(run);
  return folder;
}

void RunFolder::write_config(std::string_view yaml) const {
  write_file_atomically(path_ / stored_config, yaml, Links::refuse);
}

void RunFolder::log(std::string_view line) { log_.append(printable_lines(line) + "\n"); }

void RunFolder::sample(std::string_view text) { samples_.append(text); }

}  // namespace heed
