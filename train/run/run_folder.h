// The folder that a run keeps its files in:
//   config.yaml  log.txt  samples.txt  metrics.csv (metrics.h)  checkpoints/ (checkpoint.h)
//   .lock        held by the process that trains in it
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "train/files/files.h"

namespace heed {

// A file that grows at its end, a whole piece at a time. Nothing is held back in memory.
class AppendFile {
 public:
  // Creates the file if it is not there. Throws IoError.
  explicit AppendFile(std::filesystem::path path);

  // If not all of `text` can be written (a full disk), the file is cut back and an IoError thrown.
  void append(std::string_view text);
  // In bytes. Throws IoError when the file has been removed in the meantime.
  int64_t size() const;
  void cut(int64_t size) const;  // back to this many bytes, if there are more
  void flush_to_disk();

 private:
  std::filesystem::path path_;
  FileHandle file_;
};

// A folder has one process that writes into it. The system gives the lock back when that process
// ends, however it ends, so there are no stale ones.
class RunFolder {
 public:
  // A new run. `out` must not exist or be an empty folder (ConfigError); without it the first of
  // runs/<name>, runs/<name>-2, runs/<name>-3, ... that is not there is taken, also when several
  // processes ask at the same time. Throws IoError when it cannot be written.
  static RunFolder create(const std::optional<std::filesystem::path>& out, const std::string& name);

  // A run to go on with. Throws IoError when it is not there, no run, cannot be written, or when
  // another process, which is named, is training in it. What earlier ones left half written goes.
  static RunFolder open(const std::filesystem::path& run);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config_file() const { return path_ / "config.yaml"; }
  std::filesystem::path metrics_file() const { return path_ / "metrics.csv"; }

  void write_config(std::string_view yaml) const;
  void log(std::string_view line);     // to log.txt; the line end is added
  void sample(std::string_view text);  // to samples.txt, as it is

  // The length of samples.txt is part of a checkpoint: whoever resumes cuts off what came later.
  int64_t sample_bytes() const { return samples_.size(); }
  void cut_samples(int64_t bytes) const { samples_.cut(bytes); }

 private:
  explicit RunFolder(std::filesystem::path path);

  std::filesystem::path path_;
  FileHandle lock_;
  AppendFile log_, samples_;
};

}  // namespace heed
