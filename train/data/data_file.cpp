#include "train/data/data_file.h"

#include "autograd/threads/machine.h"
#include "train/data/task.h"
#include "train/files/human_readable.h"

namespace heed {

FileReader open_data_file(const std::filesystem::path& path, int64_t factor, int64_t more) {
  constexpr int64_t megabyte = 1'000'000;
  FileReader file(path);
  const int64_t available = memory().available;
  if (file.size() + more > available / factor) {
    throw TaskError("path",
                    text(path.string(), " has ", grouped((file.size() + more) / megabyte),
                         " MB and needs ", factor, " times as much memory; this machine has ",
                         grouped(available / megabyte), " MB left"));
  }
  return file;
}

void require_fingerprint(const std::filesystem::path& path, const Fingerprint& found,
                         const std::string& expected) {
  require<IoError>(expected.empty() || found.text() == expected, path.string(),
                   ": changed: expected fingerprint ", expected, ", got ", found.text(),
                   "; bring that file back, or train anew");
}

}  // namespace heed
