#include "tools/extras/report/data.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "layers/text/formatted.h"
#include "tools/extras/report/record.h"
#include "tools/extras/report/sections.h"
#include "tools/extras/report/speed.h"
#include "train/config/run_config.h"
#include "train/files/files.h"
#include "train/files/human_readable.h"
#include "train/run/metrics.h"
#include "train/yaml/yaml.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

using ReportJson = nlohmann::ordered_json;

// The limits that keep the page small, for all runs together.
constexpr size_t most_rows = 1600;
constexpr size_t most_speeds = 400;
constexpr size_t most_samples = 24;
constexpr size_t most_sample_bytes = 3000;  // per sample
constexpr size_t most_config_bytes = 20'000;
constexpr size_t most_map_bytes = 1'400'000;
constexpr int64_t most_samples_file = int64_t{1} << 28;

// Six significant digits are more than a screen can show.
ReportJson rounded(std::optional<double> value) {
  if (!value) {
    return nullptr;
  }
  const std::string digits = formatted("%.6g", *value);
  double number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

// Indices of `most` out of `count` items, evenly spaced, including the first and the last.
std::vector<size_t> evenly(size_t count, size_t most) {
  std::vector<size_t> chosen;
  const size_t kept = std::min(count, std::max<size_t>(2, most));
  for (size_t i = 0; i < kept; ++i) {
    chosen.push_back(kept == 1 ? 0 : i * (count - 1) / (kept - 1));
  }
  return chosen;
}

// Thins out the rows of metrics.csv: keeps those with a validation loss first, then others.
std::vector<MetricsRow> thinned(const std::vector<MetricsRow>& rows, size_t most) {
  std::vector<size_t> evaluated;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].val_loss) {
      evaluated.push_back(i);
    }
  }
  std::set<size_t> kept;
  for (const size_t i : evenly(evaluated.size(), most / 2)) {
    kept.insert(evaluated[i]);
  }
  for (const size_t i : evenly(rows.size(), most - std::min(most / 2, kept.size()))) {
    kept.insert(i);
  }
  std::vector<MetricsRow> out;
  for (const size_t i : kept) {
    out.push_back(rows[i]);
  }
  return out;
}

// Reads samples.txt, in which a line "--- step 500" precedes each sample.
ReportJson samples_of(const fs::path& run, size_t most) {
  const fs::path file = run / "samples.txt";
  const std::string all = is_there(file) ? read_file(file, most_samples_file) : std::string();
  const std::string mark = "--- step ";
  std::vector<std::pair<int64_t, std::string>> samples;
  for (size_t at = all.starts_with(mark) ? 0 : std::string::npos; at != std::string::npos;) {
    const size_t line_end = std::min(all.find('\n', at), all.size() - 1);
    const size_t next = all.find("\n" + mark, line_end);
    const size_t end = next == std::string::npos ? all.size() : next;
    samples.emplace_back(std::strtoll(all.c_str() + at + mark.size(), nullptr, 10),
                         all.substr(line_end + 1, end - std::min(end, line_end + 1)));
    at = next == std::string::npos ? next : next + 1;
  }
  ReportJson out = ReportJson::array();
  for (const size_t i : evenly(samples.size(), most)) {
    out.push_back(
        {{"step", samples[i].first}, {"text", cut_text(samples[i].second, most_sample_bytes)}});
  }
  return out;
}

size_t map_bytes(const ReportRecord& record) {
  size_t bytes = 0;
  for (const ReportRecord::Snapshot& of : record.snapshots) {
    for (const ReportRecord::Map& map : of.maps) {
      bytes += map.weights.size() + 12 * (map.queries.size() + map.keys.size());
    }
  }
  return bytes;
}

// The record, with as many snapshots as fit.
ReportJson record_json(ReportRecord record, size_t most_bytes) {
  while (record.snapshots.size() > 2 && map_bytes(record) > most_bytes) {
    thin_out(record.snapshots, record.snapshots.size() - 1);
  }
  while (!record.snapshots.empty() && map_bytes(record) > most_bytes) {
    record.snapshots.erase(record.snapshots.begin());
  }
  return ReportJson::parse(to_json(record));
}

std::string duration_text(double seconds) {
  if (seconds < 100) {
    return formatted("%.1f s", seconds);
  }
  return seconds < 6000 ? formatted("%.1f min", seconds / 60) : formatted("%.1f h", seconds / 3600);
}

using ConfigValues = std::map<std::string, std::string>;  // by path

int64_t number_at(const ConfigValues& config, const char* path) {
  const auto found = config.find(path);
  return found == config.end() ? 0 : std::strtoll(found->second.c_str(), nullptr, 10);
}

// The speed of training without evaluations, samples and checkpoints.
std::vector<Speed> speed_of(const std::vector<MetricsRow>& rows, const ReportRecord& record,
                            const ConfigValues& config) {
  Pauses pauses{{}, {number_at(config, "sample.every"), number_at(config, "checkpoint.every")}};
  for (const ReportRecord::Evaluated& of : record.evaluations) {
    pauses.evaluations[of.step] = of.seconds;
  }
  return training_speed(rows, pauses);
}

ReportJson speed_json(const std::vector<Speed>& speed, size_t most) {
  ReportJson out = ReportJson::array();
  for (const Speed& of : merged(speed, most)) {
    out.push_back({of.step, rounded(of.tokens / of.seconds)});
  }
  return out;
}

// Summary figures of a run, as text.
ReportJson totals_of(const std::vector<MetricsRow>& rows, const std::vector<Speed>& speed,
                     int64_t steps) {
  ReportJson out = ReportJson::array();
  if (rows.empty()) {
    return out;
  }
  const MetricsRow& last = rows.back();
  out.push_back({"steps", text(grouped(last.step), " of ", grouped(steps))});
  out.push_back({"tokens trained on", grouped(last.tokens.value_or(0))});
  out.push_back({"time", duration_text(last.seconds.value_or(0))});
  if (!speed.empty()) {
    const Speed all = merged(speed, 1).front();
    out.push_back({"tokens/s in training", grouped(std::llround(all.tokens / all.seconds))});
  }
  const MetricsRow* best = nullptr;
  for (const MetricsRow& row : rows) {
    best = row.val_loss && (best == nullptr || *row.val_loss < *best->val_loss) ? &row : best;
  }
  if (last.loss) {
    out.push_back({"last loss", formatted("%.4f", *last.loss)});
  }
  if (best != nullptr) {
    out.push_back({"lowest validation loss",
                   formatted("%.4f", *best->val_loss) + text(" at step ", grouped(best->step))});
  }
  if (best != nullptr && best->bits_per_byte) {
    out.push_back({"that is, per byte of text", formatted("%.4f", *best->bits_per_byte) + " bits"});
  }
  return out;
}

// The names of the losses that layers have added.
std::set<std::string> added_losses(const std::vector<MetricsRow>& rows) {
  std::set<std::string> names;
  for (const MetricsRow& row : rows) {
    for (const auto& [name, value] : row.added) names.insert(name);
  }
  return names;
}

ReportJson row_json(const MetricsRow& row, const std::set<std::string>& added) {
  ReportJson out{row.step,
                 rounded(row.loss),
                 rounded(row.val_loss),
                 rounded(row.lr),
                 rounded(row.grad_norm),
                 row.tokens.value_or(0),
                 rounded(row.seconds)};
  for (const std::string& name : added) {
    const auto found = row.added.find(name);
    out.push_back(rounded(found == row.added.end() ? std::nullopt : std::optional(found->second)));
  }
  return out;
}

// What sections of other extras show, by their names.
ReportJson more_of(const fs::path& run) {
  ReportJson more = ReportJson::object();
  for (const auto& section : sections_registry().make_all()) {
    const std::string data = section->data(run);
    if (!data.empty()) more[sections_registry().name_of(*section)] = ReportJson::parse(data);
  }
  return more;
}

ReportJson run_json(const fs::path& run, const std::string& name, size_t share,
                    std::vector<std::string>& warnings, const std::vector<std::string>& sets) {
  const ConfigNode config = sets.empty() ? read_config((run / "config.yaml").string())
                                         : read_run_tree(run / "config.yaml", sets).root;
  const ConfigValues values = flat_values(config);
  const fs::path metrics = run / "metrics.csv";
  const std::vector<MetricsRow> rows =
      is_there(metrics) ? read_metrics(metrics, &warnings) : std::vector<MetricsRow>();
  ReportRecord record = read_record(run / "report.json");
  const std::vector<Speed> speed = speed_of(rows, record, values);
  const std::set<std::string> added = added_losses(rows);
  ReportJson points = ReportJson::array();
  for (const MetricsRow& row : thinned(rows, std::max<size_t>(60, most_rows / share))) {
    points.push_back(row_json(row, added));
  }
  return {{"name", name},
          {"totals", totals_of(rows, speed, number_at(values, "train.steps"))},
          {"config", values},
          {"yaml", cut_text(sets.empty() ? read_file(run / "config.yaml", most_samples_file)
                                         : to_yaml(config),
                            most_config_bytes)},
          {"added", added},
          {"rows", std::move(points)},
          {"speed", speed_json(speed, std::max<size_t>(60, most_speeds / share))},
          {"samples", samples_of(run, std::max<size_t>(4, most_samples / share))},
          {"more", more_of(run)},
          {"record", record_json(std::move(record), most_map_bytes / share)}};
}

}  // namespace

std::string report_data(std::span<const fs::path> runs, std::vector<std::string>& warnings,
                        const std::optional<GoingOn>& going_on,
                        const std::vector<std::string>& sets) {
  ReportJson all = ReportJson::array();
  std::set<std::string> names;
  for (const fs::path& run : runs) {
    const fs::path folder = run.has_filename() ? run : run.parent_path();
    std::error_code error;
    std::string name = fs::weakly_canonical(folder, error).filename().string();
    name = error || names.contains(name) ? folder.string() : name;
    names.insert(name);
    all.push_back(run_json(folder, name, runs.size(), warnings, sets));
  }
  ReportJson data{{"version", HEED_VERSION}, {"runs", std::move(all)}};
  if (going_on) {
    data["going_on"] = {{"written", going_on->written}, {"reload", going_on->reload}};
  }
  return data.dump(-1, ' ', false, ReportJson::error_handler_t::replace);
}

}  // namespace heed
