#include "train/run/metrics.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include "autograd/base/error.h"
#include "layers/text/formatted.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view header = "step,loss,val_loss,lr,grad_norm,tokens,seconds,bits_per_byte";

std::string field(std::optional<double> value) { return value ? formatted("%.9g", *value) : ""; }
std::string field(std::optional<int64_t> value) { return value ? std::to_string(*value) : ""; }

// Removes the text up to the next comma from `rest` and returns it.
std::string_view next_field(std::string_view& rest) {
  const std::string_view front = rest.substr(0, rest.find(','));
  rest.remove_prefix(std::min(rest.size(), front.size() + 1));
  return front;
}

// Parses an optional number. False if the text is neither empty nor a complete number.
template <class T>
bool parse(std::string_view digits, std::optional<T>& value) {
  if (digits.empty()) {
    return true;
  }
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value.emplace());
  return error == std::errc() && rest == end;
}

// The columns of a header line behind those that every run has.
std::vector<std::string> added_columns(std::string_view first) {
  std::vector<std::string> names;
  first.remove_prefix(std::min(first.size(), header.size() + 1));
  while (!first.empty()) names.emplace_back(next_field(first));
  return names;
}

std::optional<MetricsRow> parse_row(std::string_view line, const std::vector<std::string>& added) {
  MetricsRow row;
  std::optional<int64_t> step;
  bool good = std::count(line.begin(), line.end(), ',') >= 7 && parse(next_field(line), step);
  for_each_column(row,
                  [&](const char*, auto& value) { good = good && parse(next_field(line), value); });
  for (const std::string& name : added) {
    std::optional<double> value;
    good = good && parse(next_field(line), value);
    if (value) row.added[name] = *value;
  }
  if (!good || !step) {
    return std::nullopt;
  }
  row.step = *step;
  return row;
}

// A metrics file, split into lines.
struct MetricsText {
  std::string_view first;               // the header line
  std::vector<std::string> added;       // its columns behind those that every run has
  std::vector<MetricsRow> rows;         // that are whole, by increasing step
  std::vector<std::string_view> lines;  // of these rows
  std::string damage;                   // "path:line: ..." of the first row that is not; else ""
  size_t before_damage = 0;             // the number of rows before it
};

// False also for what cannot be looked at: reading it then says why.
bool is_missing(const fs::path& path) {
  std::error_code error;
  return fs::status(path, error).type() == fs::file_type::not_found;
}

// What is wrong with this row; "" if nothing is.
std::string mistake_in(const std::optional<MetricsRow>& row, int64_t last_step) {
  if (!row) {
    return "expected at least 8 numbers between commas";
  }
  return row->step > last_step ? ""
                               : text("expected a step after ", last_step, ", got ", row->step);
}

// A last line without a line end is ignored. Throws IoError for a wrong header.
MetricsText split_metrics(const fs::path& path, std::string_view bytes) {
  MetricsText all;
  for (int64_t number = 1; bytes.find('\n') != std::string_view::npos; ++number) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(line.size() + 1);
    if (number == 1) {
      require<IoError>(line.starts_with(header), path.string(), ":1: expected the columns ",
                       header);
      all.first = line;
      all.added = added_columns(line);
      continue;
    }
    std::optional<MetricsRow> row = parse_row(line, all.added);
    const std::string mistake = mistake_in(row, all.rows.empty() ? 0 : all.rows.back().step);
    if (mistake.empty()) {
      all.rows.push_back(std::move(*row));
      all.lines.push_back(line);
    } else if (all.damage.empty()) {
      all.damage = text(path.string(), ":", number, ": ", mistake);
      all.before_damage = all.rows.size();
    }
  }
  return all;
}

// Reduces to the rows up to `step`, as read_metrics_until() describes.
void keep_until(MetricsText& all, int64_t step) {
  const auto later = [&](const MetricsRow& row) { return row.step > step; };
  const auto end = std::find_if(all.rows.begin(), all.rows.end(), later);
  require<IoError>(
      all.damage.empty() || static_cast<size_t>(end - all.rows.begin()) <= all.before_damage,
      all.damage, "; delete this line to go on without it");
  all.rows.erase(end, all.rows.end());
  all.lines.resize(all.rows.size());
}

void warn_of_damage(const MetricsText& all, std::vector<std::string>& warnings) {
  if (!all.damage.empty()) {
    warnings.push_back(all.damage + "; left out");
  }
}

}  // namespace

std::string metrics_line(const MetricsRow& row, const std::vector<std::string>& added) {
  std::string line = std::to_string(row.step);
  for_each_column(row, [&](const char*, const auto& value) { line += ',' + field(value); });
  for (const std::string& name : added) {
    const auto found = row.added.find(name);
    line += ',' + field(found == row.added.end() ? std::nullopt : std::optional(found->second));
  }
  return line;
}

MetricsWriter MetricsWriter::resume(const fs::path& path, int64_t step) {
  const std::string before = is_missing(path) ? "" : read_file(path, max_csv_bytes);
  MetricsText kept = split_metrics(path, before);
  keep_until(kept, step);
  std::string after = text(kept.first.empty() ? header : kept.first, "\n");
  for (const std::string_view line : kept.lines) {
    after.append(line) += '\n';
  }
  if (after != before) {
    write_file_atomically(path, after, Links::refuse);
  }
  return MetricsWriter(path, std::move(kept.added), kept.rows.empty() ? 0 : kept.rows.back().step);
}

void MetricsWriter::write(const MetricsRow& row) {
  require<Error>(row.step > last_step_, "metrics: expected a step after ", last_step_, ", got ",
                 row.step);
  for (const auto& [name, value] : row.added) {
    if (std::find(added_.begin(), added_.end(), name) == added_.end()) add_column(name);
  }
  file_.append(metrics_line(row, added_) + "\n");
  last_step_ = row.step;
}

void MetricsWriter::add_column(const std::string& name) {
  std::string rows = read_file(path_, max_csv_bytes);
  require<ConfigError>(text(",", header, ",").find("," + name + ",") == std::string::npos,
                       "a layer adds a loss ", name, ", but metrics.csv has such a column");
  rows.insert(rows.find('\n'), "," + name);
  write_file_atomically(path_, rows, Links::refuse);
  file_ = AppendFile(path_);
  added_.push_back(name);
}

std::vector<MetricsRow> read_metrics(const fs::path& path, std::vector<std::string>* warnings) {
  const std::string bytes = read_file(path, max_csv_bytes);
  MetricsText all = split_metrics(path, bytes);
  if (warnings != nullptr) {
    warn_of_damage(all, *warnings);
  } else {
    require<IoError>(all.damage.empty(), all.damage);
  }
  return std::move(all.rows);
}

std::vector<MetricsRow> read_metrics_until(const fs::path& path, int64_t step,
                                           std::vector<std::string>& warnings) {
  if (is_missing(path)) {
    return {};
  }
  const std::string bytes = read_file(path, max_csv_bytes);
  MetricsText all = split_metrics(path, bytes);
  keep_until(all, step);
  warn_of_damage(all, warnings);
  return std::move(all.rows);
}

}  // namespace heed
