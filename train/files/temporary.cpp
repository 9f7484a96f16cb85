#include "train/files/temporary.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <system_error>
#include <vector>

#include "autograd/base/error.h"
#include "train/files/files.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view temporary_prefix = ".heed-tmp-";
std::atomic<int64_t> temporaries_made{0};

// True if `name` is a temporary of a process that has ended. Process ids repeat in containers: a
// temporary with our own id and a number we have not used yet belongs to a predecessor.
bool is_of_an_ended_process(std::string_view name) {
  if (!name.starts_with(temporary_prefix)) {
    return false;
  }
  name.remove_prefix(temporary_prefix.size());
  const char* end = name.data() + name.size();
  pid_t process = 0;
  int64_t number = 0;
  const auto [dash, bad_process] = std::from_chars(name.data(), end, process);
  if (bad_process != std::errc() || process <= 0 || dash == end || *dash != '-') {
    return false;
  }
  const auto [rest, bad_number] = std::from_chars(dash + 1, end, number);
  if (bad_number != std::errc() || number < 0 || rest != end) {
    return false;
  }
  if (process == ::getpid()) {
    return number >= temporaries_made;
  }
  return ::kill(process, 0) != 0 && errno == ESRCH;
}

// False if a process, maybe of another machine, has marked it as being written.
bool is_abandoned(const fs::path& temporary) {
  const FileHandle file(::open(temporary.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return file.get() < 0 || ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

std::vector<fs::path> leftovers_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> leftovers;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    if (is_of_an_ended_process(path.filename().string()) && is_abandoned(path)) {
      leftovers.push_back(path);
    }
  }
  return leftovers;
}

}  // namespace

fs::path make_temporary(const fs::path& target,
                        const std::function<int(const fs::path& candidate)>& make) {
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  for (const fs::path& leftover : leftovers_in(folder)) {
    std::error_code ignored;  // another user's, perhaps
    fs::remove_all(leftover, ignored);
  }
  for (;;) {
    const fs::path candidate =
        target.parent_path() / text(temporary_prefix, ::getpid(), "-", temporaries_made++);
    const int error = make(candidate);
    if (error == 0) {
      return candidate;
    }
    std::error_code unknown;
    require<IoError>(error != ENOENT || fs::exists(folder, unknown), target.string(),
                     ": cannot write: the folder ", folder.string(), " does not exist");
    if (error != EEXIST && error != ENOTEMPTY) {
      fail_errno(target, "cannot write", error);
    }
  }
}

bool is_temporary(const fs::path& path) {
  return path.string().find(text("/", temporary_prefix)) != std::string::npos;
}

// Where a file system has no locks, the number of the process alone tells.
void mark_as_written(int descriptor) { (void)::flock(descriptor, LOCK_EX | LOCK_NB); }

int remove_leftovers(const fs::path& folder) {
  const std::vector<fs::path> leftovers = leftovers_in(folder);
  for (const fs::path& leftover : leftovers) {
    std::error_code error;
    fs::remove_all(leftover, error);
    if (error) {
      fail_errno(leftover, "cannot remove", error.value());
    }
  }
  return static_cast<int>(leftovers.size());
}

}  // namespace heed
