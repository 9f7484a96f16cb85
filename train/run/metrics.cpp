#include "train/run/metrics.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <string_view>
#include <system_error>

#include "autograd/base/error.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view header = "step,loss,val_loss,lr,grad_norm,tokens,seconds";
constexpr int64_t max_csv_bytes = int64_t{1} << 30;

std::string field(std::optional<double> value) {
  char digits[32];
  return value ? std::string(digits, std::to_chars(std::begin(digits), std::end(digits), *value,
                                                   std::chars_format::general, 9)
                                         .ptr)
               : std::string();
}

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

std::optional<MetricsRow> parse_row(std::string_view line) {
  MetricsRow row;
  std::optional<int64_t> step;
  const bool good = std::count(line.begin(), line.end(), ',') >= 6 &&
                    parse(next_field(line), step) && parse(next_field(line), row.loss) &&
                    parse(next_field(line), row.val_loss) && parse(next_field(line), row.lr) &&
                    parse(next_field(line), row.grad_norm) && parse(next_field(line), row.tokens) &&
                    parse(next_field(line), row.seconds);
  if (!good || !step) {
    return std::nullopt;
  }
  row.step = *step;
  return row;
}

// Calls visit(row, line) for every complete row of the text, and returns the header line.
std::string_view for_each_row(
    const fs::path& path, std::string_view bytes,
    const std::function<void(const MetricsRow& row, std::string_view line)>& visit) {
  std::string_view first;
  int64_t last_step = 0;
  for (int64_t number = 1; bytes.find('\n') != std::string_view::npos; ++number) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(line.size() + 1);
    if (number == 1) {
      require<IoError>(line.starts_with(header), path.string(), ":1: expected the columns ",
                       header);
      first = line;
      continue;
    }
    const std::optional<MetricsRow> row = parse_row(line);
    require<IoError>(row.has_value(), path.string(), ":", number,
                     ": expected at least 7 numbers between commas");
    require<IoError>(row->step > last_step, path.string(), ":", number, ": expected a step after ",
                     last_step, ", got ", row->step);
    last_step = row->step;
    visit(*row, line);
  }
  return first;
}

}  // namespace

std::string metrics_line(const MetricsRow& row) {
  return text(row.step, ',', field(row.loss), ',', field(row.val_loss), ',', field(row.lr), ',',
              field(row.grad_norm), ',', field(row.tokens), ',', field(row.seconds));
}

MetricsWriter MetricsWriter::create(const fs::path& path) {
  require<IoError>(!fs::exists(fs::symlink_status(path)), path.string(),
                   ": cannot write: it exists already");
  AppendFile file(path);
  file.append(text(header, "\n"));
  return MetricsWriter(std::move(file), 0);
}

MetricsWriter MetricsWriter::resume(const fs::path& path, int64_t step) {
  if (!fs::exists(path)) {
    return create(path);
  }
  const std::string before = read_file(path, max_csv_bytes);
  std::string rows;
  int64_t last_step = 0;
  const std::string_view first =
      for_each_row(path, before, [&](const MetricsRow& row, std::string_view line) {
        if (row.step <= step) {
          rows.append(line) += '\n';
          last_step = row.step;
        }
      });
  const std::string after = text(first.empty() ? header : first, "\n", rows);
  if (after != before) {
    write_file_atomically(path, after);
  }
  return MetricsWriter(AppendFile(path), last_step);
}

void MetricsWriter::write(const MetricsRow& row) {
  require<Error>(row.step > last_step_, "metrics: expected a step after ", last_step_, ", got ",
                 row.step);
  file_.append(metrics_line(row) + "\n");
  last_step_ = row.step;
}

std::vector<MetricsRow> read_metrics(const fs::path& path) {
  std::vector<MetricsRow> rows;
  const std::string bytes = read_file(path, max_csv_bytes);
  for_each_row(path, bytes, [&](const MetricsRow& row, std::string_view) { rows.push_back(row); });
  return rows;
}

}  // namespace heed
