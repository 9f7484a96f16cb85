// The folder of a run:
//   config.yaml  log.txt  samples.txt  metrics.csv (metrics.h)  checkpoints/ (checkpoint.h)
//   .lock        held by the process that trains in it
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "train/files/files.h"
#include "train/files/run_files.h"

namespace heed {

// An append-only file. Every append is written immediately, completely or not at all.
class AppendFile {
 public:
  // Creates the file if it does not exist. Throws IoError, also for a symbolic link.
  explicit AppendFile(std::filesystem::path path);

  // On a failure (full disk), removes what was written and throws IoError.
  void append(std::string_view text);
  // Size in bytes. Throws IoError if the file has been deleted.
  int64_t size() const;
  void cut(int64_t size) const;  // truncates the file to at most `size` bytes
  void flush_to_disk() { heed::flush_to_disk(file_.get(), path_); }

 private:
  std::filesystem::path path_;
  FileHandle file_;
};

// Nothing is written through a symbolic link in a run folder, which may come from somebody else;
// the folder itself may be one. Only one process writes to a run folder. The operating system
// releases the lock when that process ends for any reason, so there are no stale locks.
class RunFolder {
 public:
  // Creates a new run. `out` must be an empty folder or not exist (ConfigError). Without `out`,
  // takes the first free name of runs/<name>, runs/<name>-2, runs/<name>-3, ..., safely if several
  // processes do so at once. Throws IoError if the folder cannot be written.
  static RunFolder create(const std::optional<std::filesystem::path>& out, const std::string& name);

  // Opens an existing run. Throws IoError if it does not exist, is not a run, cannot be written,
  // holds a link in place of a file that training writes, or is being trained by another process
  // (which is named). Removes incomplete files of earlier processes.
  static RunFolder open(const std::filesystem::path& run);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path metrics_file() const { return path_ / run_metrics; }

  void write_config(std::string_view yaml) const;
  void log(std::string_view line);     // to log.txt, printable; adds the line end
  void sample(std::string_view text);  // to samples.txt, unchanged

  // Checkpoints store the length of samples.txt, so that resuming can cut off later samples.
  int64_t sample_bytes() const { return samples_.size(); }
  void cut_samples(int64_t bytes) const { samples_.cut(bytes); }

 private:
  explicit RunFolder(std::filesystem::path path);

  std::filesystem::path path_;
  FileHandle lock_;
  AppendFile log_, samples_;
};

}  // namespace heed
