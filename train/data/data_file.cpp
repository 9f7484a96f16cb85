#include "train/data/data_file.h"

#include "autograd/threads/machine.h"
#include "train/data/task.h"
#include "train/files/number_words.h"

namespace heed {

FileReader open_data_file(const std::filesystem::path& path, int64_t factor) {
  constexpr int64_t megabyte = 1'000'000;
  FileReader file(path);
  const int64_t available = memory().available;
  if (file.size() > available / factor) {
    throw TaskError("path",
                    text(path.string(), " has ", grouped(file.size() / megabyte), " MB and needs ",
                         factor, " times as much memory; this machine has ",
                         grouped(available / megabyte), " MB left"));
  }
  return file;
}

void require_fingerprint(const std::filesystem::path& path, Bytes bytes,
                         const std::string& expected) {
  if (expected.empty()) {
    return;
  }
  const std::string found = fingerprint(bytes).text();
  require<IoError>(found == expected, path.string(), ": changed: expected fingerprint ", expected,
                   ", got ", found, "; bring that file back, or train anew");
}

}  // namespace heed
