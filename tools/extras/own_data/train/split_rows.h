// The rows of a user's file or files, each for training or for validation.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/extras/own_data/train/columns.h"
#include "train/data/task.h"

namespace heed {

// What the tasks on users' files have in common.
struct OwnDataConfig {
  std::string path, validation, separator;
  double train_fraction = 0.9;
  Choice tokenizer{"words"};
  std::optional<int64_t> max_length;
  bool shuffle = true;
  std::string fingerprint, validation_fingerprint;

  // Before and after those of a task itself.
  void first_fields(Fields& f);
  void more_fields(Fields& f, bool is_table = true);
  // Columns must be different, and no field without an effect.
  void check(ConfigErrors& errors, const ConfigNode& at, std::span<const RowColumn> columns) const;
};

// The rows of a file.
struct TextRows {
  std::vector<TextRow> rows;
  std::string columns = {};  // which were taken; "": there is nothing to say, as for JSON
  std::string warning = {};  // "", or what of the file is not used
  std::filesystem::path path = {};
  std::string changed = {};  // "", or that the file has not the fingerprint of the config
};

// Rows of one or two columns. The extension of the file gives its format:
//   *.tsv *.tab *.txt   a line each, cells separated by tabs; nothing is quoted
//   *.csv               RFC 4180: commas; cells in quotes may hold commas, newlines and "" for "
//   *.jsonl *.ndjson    a JSON object each line
// and of single cells:  *.txt, a line each, or *.jsonl, *.ndjson
// Empty lines, a byte order mark and carriage returns before a newline are skipped. `separator` of
// a *.csv: "" is a comma. Throws RowError with all mistakes and for a file without rows,
// ConfigError for an unknown extension.
TextRows read_rows(std::string_view bytes, const std::filesystem::path& path,
                   std::span<const RowColumn> columns, const std::string& separator = "");

// A row of the file of `validation` is for validation. With one file, the XXH64 of the row's first
// cell, as a fraction of 2^64, decides: rows from train_fraction on are for validation. So rows
// with the same input are on the same side, and a row stays on its side in a file that grows.
class SplitRows {
 public:
  // Throws IoError for a file that cannot be read, RowError for one with mistakes, TaskError for
  // one that is too large for this machine. If they are absent, there are none.
  SplitRows(const OwnDataConfig& c, const TaskSetup& setup, std::span<const RowColumn> columns);
  // The same for files that `read` makes rows of.
  using Read = std::function<TextRows(std::string_view bytes, const std::filesystem::path& path)>;
  SplitRows(const OwnDataConfig& c, const TaskSetup& setup, const Read& read);

  const std::vector<TextRows>& files() const { return files_; }
  Split split(size_t file, const TextRow& row) const;
  // All cells of a column, as the corpus of a tokenizer.
  std::vector<std::string_view> cells(size_t column) const;
  // The bytes of all cells, and so the most tokens that there can be.
  int64_t bytes() const;
  // Throws IoError for a file with another fingerprint than that of the config. Called once its
  // tokens are known: what a model never saw is the better message.
  void require_unchanged() const;
  // With a file of its own: how many rows of it have an input that is in the other one too.
  int64_t validation_rows_seen() const { return seen_; }

 private:
  const double train_fraction_;
  std::vector<TextRows> files_;  // path; validation, if it is given
  int64_t seen_ = 0;
};

}  // namespace heed
