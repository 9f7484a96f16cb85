#include "train/wings/own_data/split_rows.h"

#include <numeric>
#include <unordered_set>

#include "train/data/data_file.h"

namespace heed {

namespace {

// The file in memory, its rows, and their tokens.
constexpr int64_t bytes_per_byte = 4;

SplitRows::Part read_part(const std::filesystem::path& path, const std::string& fingerprint,
                          const SplitRows::Read& read) {
  const FileReader file = open_data_file(path, bytes_per_byte);
  std::vector<char> bytes(static_cast<size_t>(file.size()));
  file.read(0, std::as_writable_bytes(std::span(bytes)));
  std::string changed;
  try {
    require_fingerprint(path, std::as_bytes(std::span(bytes)), fingerprint);
  } catch (const IoError& error) {
    changed = error.what();
  }
  return {path, read(std::move(bytes), path), changed};
}

uint64_t hash_of(const TextRows::Row& row) { return fingerprint(as_bytes(row.cells[0])).xxh64; }

}  // namespace

void OwnDataConfig::first_fields(Fields& f) {
  f.required("path", path,
             "*.tsv, *.csv or *.jsonl, an example each line; relative to the config's folder");
}

void OwnDataConfig::more_fields(Fields& f, bool is_table) {
  f.section("tokenizer", tokenizer, "tokenizer", "what a token is").short_form = true;
  if (is_table) {
    f.optional("separator", separator,
               "of the cells of a *.csv: one character, as \";\"; by default a comma");
  }
  f.optional("train_fraction", train_fraction, in_range(0, 1, Bound::open),
             "share of the examples to train on, chosen by a hash of what the model reads; the "
             "rest is for validation")
      .also_known_as({"val_split", "val_fraction", "validation_split"}, "1 minus this");
  f.optional("validation", validation, "a file of its own to validate with; all of path trains");
  f.optional("max_length", max_length, at_least(1), "tokens; longer examples are left out", "none");
  f.optional("shuffle", shuffle, "examples in a new order every epoch");
  f.optional("fingerprint", fingerprint,
             "size and hash of the file; a run's own config has it and refuses another file");
  f.optional("validation_fingerprint", validation_fingerprint, "that of the other file");
}

void OwnDataConfig::check(ConfigErrors& errors, const ConfigNode& at,
                          const std::array<RowColumn, 2>& columns) const {
  const RowColumn &a = columns[0], &b = columns[1];
  const auto chosen = [](const RowColumn& of) { return of.name.empty() ? of.role : of.name; };
  if (chosen(a) == chosen(b)) {
    errors.add_field(at, b.role, "expected another column than that of ", a.role, ", got ",
                     printable(chosen(b)), " for both");
  }
  if (separator.size() > 1 || separator == "\"" || separator == "\n" || separator == "\t") {
    errors.add_field(
        at, "separator", "expected a character such as \";\", got ",
        separator == "\t" ? "a tab; name a file with tabs *.tsv" : printable(separator));
  }
  if (!validation.empty() && train_fraction != OwnDataConfig{}.train_fraction) {
    errors.add_field(at, "train_fraction", "has no effect with data.validation: all of data.path ",
                     "is trained on; leave it out");
  }
}

SplitRows::SplitRows(const OwnDataConfig& c, const TaskSetup& setup,
                     const std::array<RowColumn, 2>& columns)
    : SplitRows(c, setup, [&](std::vector<char> bytes, const std::filesystem::path& path) {
        return TextRows(std::move(bytes), path, columns, c.separator);
      }) {}

SplitRows::SplitRows(const OwnDataConfig& c, const TaskSetup& setup, const Read& read)
    : train_fraction_(c.train_fraction) {
  parts_.push_back(read_part(setup.config_folder / c.path, c.fingerprint, read));
  if (c.validation.empty()) {
    return;
  }
  try {
    parts_.push_back(read_part(setup.config_folder / c.validation, c.validation_fingerprint, read));
  } catch (const IoError& error) {
    throw TaskFileError("validation", error.what());
  }
  std::unordered_set<uint64_t> trained;
  for (int64_t row = 0; row < parts_[0].rows.size(); ++row) {
    trained.insert(hash_of(parts_[0].rows[row]));
  }
  for (int64_t row = 0; row < parts_[1].rows.size(); ++row) {
    seen_ += trained.contains(hash_of(parts_[1].rows[row])) ? 1 : 0;
  }
}

void SplitRows::require_unchanged() const {
  require<IoError>(parts_[0].changed.empty(), parts_[0].changed);
  if (parts_.size() > 1 && !parts_[1].changed.empty()) {
    throw TaskFileError("validation", parts_[1].changed);
  }
}

Split SplitRows::split(size_t part, int64_t row) const {
  if (parts_.size() > 1) {
    return part == 0 ? Split::train : Split::validation;
  }
  const double place = static_cast<double>(hash_of(parts_[part].rows[row]) >> 11) * 0x1p-53;
  return place < train_fraction_ ? Split::train : Split::validation;
}

int64_t SplitRows::size() const {
  return std::accumulate(parts_.begin(), parts_.end(), int64_t{0},
                         [](int64_t sum, const Part& part) { return sum + part.rows.size(); });
}

int64_t SplitRows::bytes(size_t column) const {
  int64_t bytes = 0;
  for (const Part& part : parts_) {
    for (int64_t row = 0; row < part.rows.size(); ++row) {
      bytes += std::ssize(part.rows[row].cells[column]);
    }
  }
  return bytes;
}

std::vector<std::string_view> SplitRows::cells(size_t column) const {
  std::vector<std::string_view> cells;
  cells.reserve(static_cast<size_t>(size()));
  for (const Part& part : parts_) {
    for (int64_t row = 0; row < part.rows.size(); ++row) {
      cells.push_back(part.rows[row].cells[column]);
    }
  }
  return cells;
}

}  // namespace heed
