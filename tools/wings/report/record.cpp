#include "tools/wings/report/record.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "layers/text/utf8.h"
#include "tools/wings/report/base64.h"
#include "train/files/files.h"

namespace heed {

namespace {

using RecordJson = nlohmann::ordered_json;

constexpr size_t most_snapshots = 12;
constexpr size_t most_evaluations = 400;
constexpr size_t most_heads = 64, most_heads_at = 200;
constexpr int64_t fewest_rows = 8;  // shorter sequences are not cut
constexpr size_t most_names = 100'000;
constexpr int64_t max_record_bytes = 16'000'000;

// Beyond `most` items, drops every second one but the first and the last.
template <class Item>
void halve_beyond(size_t most, std::vector<Item>& items) {
  if (items.size() > most) {
    for (size_t i = 1; i < items.size() - 1; ++i) {
      items.erase(items.begin() + static_cast<ptrdiff_t>(i));
    }
  }
}

// Keeps the first `rows` rows and columns.
ReportRecord::Map quantised(const AttentionMap& map, int64_t rows) {
  const int64_t heads = map.weights.dim(0), queries = map.weights.dim(1), keys = map.weights.dim(2);
  const int64_t t_end = std::min(rows, queries), s_end = std::min(rows, keys);
  std::vector<uint8_t> bytes;
  for (int64_t h = 0; h < heads; ++h) {
    for (int64_t t = 0; t < t_end; ++t) {
      const real* row = map.weights.data() + (h * queries + t) * keys;
      std::transform(row, row + s_end, std::back_inserter(bytes), [](real weight) {
        return static_cast<uint8_t>(std::lround(255 * std::clamp<real>(weight, 0, 1)));
      });
    }
  }
  ReportRecord::Map out{map.path, map.cross, map.queries, map.keys, heads, to_base64(bytes)};
  out.queries.resize(static_cast<size_t>(t_end));
  out.keys.resize(static_cast<size_t>(s_end));
  return out;
}

int64_t quantised_bytes(const AttentionMap& map, int64_t rows) {
  return map.weights.dim(0) * std::min(rows, map.weights.dim(1)) *
         std::min(rows, map.weights.dim(2));
}

}  // namespace

ReportRecord::Snapshot snapshot(int64_t step, const Exhibit& exhibit,
                                const std::vector<AttentionMap>& maps, int64_t max_bytes) {
  int64_t rows = fewest_rows;
  for (const AttentionMap& map : maps) {
    rows = std::max({rows, map.weights.dim(1), map.weights.dim(2)});
  }
  const auto all_bytes = [&] {
    int64_t bytes = 0;
    for (const AttentionMap& map : maps) {
      bytes += quantised_bytes(map, rows);
    }
    return bytes;
  };
  while (rows > fewest_rows && all_bytes() > max_bytes) {
    --rows;
  }
  ReportRecord::Snapshot out{step, exhibit.prompt, exhibit.answer, {}, 0};
  int64_t bytes = 0;
  for (const AttentionMap& map : maps) {
    bytes += quantised_bytes(map, rows);
    if (bytes <= max_bytes) {
      out.maps.push_back(quantised(map, rows));
    } else {
      ++out.omitted;
    }
  }
  return out;
}

void thin_out(std::vector<ReportRecord::Snapshot>& snapshots, size_t most) {
  while (snapshots.size() > std::max<size_t>(most, 2)) {
    size_t closest = 1;  // the one with the smallest gap between its neighbours
    const auto gap = [&](size_t i) { return snapshots[i + 1].step - snapshots[i - 1].step; };
    for (size_t i = 2; i + 1 < snapshots.size(); ++i) {
      closest = gap(i) < gap(closest) ? i : closest;
    }
    snapshots.erase(snapshots.begin() + static_cast<ptrdiff_t>(closest));
  }
}

std::vector<ReportRecord::HardExample> readable(const std::vector<Score::HardExample>& hardest,
                                                Module& model, const ReadableExamples& examples) {
  constexpr size_t most_bytes = 2000;
  std::vector<ReportRecord::HardExample> all;
  for (const Score::HardExample& of : hardest) {
    const auto cut = [](std::string text) {
      return text.size() > most_bytes
                 ? std::string(whole_characters(std::string_view(text).substr(0, most_bytes))) +
                       "..."
                 : text;
    };
    all.push_back({examples.location(Split::validation, of.example),
                   cut(examples.input_text(Split::validation, of.example)),
                   cut(examples.target_text(Split::validation, of.example)),
                   cut(examples.answer(model, Split::validation, of.example)), of.loss});
  }
  return all;
}

void ReportRecord::cut(int64_t step) {
  std::erase_if(evaluations, [&](const Evaluated& of) { return of.step > step; });
  std::erase_if(heads, [&](const HeadsAt& of) { return of.step > step; });
  std::erase_if(snapshots, [&](const Snapshot& of) { return of.step > step; });
}

void ReportRecord::add(int64_t step, const Evaluation& evaluation) {
  evaluations.push_back({step, evaluation.accuracy, evaluation.exact_match, evaluation.seconds});
  halve_beyond(most_evaluations, evaluations);
  by_length.clear();
  for (const auto& [targets, sequences] : evaluation.by_length) {
    by_length.push_back({targets, sequences.all, sequences.exact});
  }
}

void ReportRecord::add(int64_t step, const probe::HeadScores& scores) {
  HeadsAt at{step, {}};
  for (const probe::HeadScore& of : scores.heads) {
    if (!of.cross && at.heads.size() < most_heads) {
      at.heads.push_back({probe::head_name(of, scores), of.previous_token.value_or(-1),
                          of.duplicate_token.value_or(-1), of.induction.value_or(-1),
                          of.first_token.value_or(-1)});
    }
  }
  heads.push_back(std::move(at));
  halve_beyond(most_heads_at, heads);
}

void ReportRecord::add(Snapshot snapshot) {
  snapshots.push_back(std::move(snapshot));
  thin_out(snapshots, most_snapshots);
}

// ---- report.json

namespace {

RecordJson snapshot_json(const ReportRecord::Snapshot& of) {
  RecordJson maps = RecordJson::array();
  for (const ReportRecord::Map& map : of.maps) {
    maps.push_back({{"path", map.path},
                    {"cross", map.cross},
                    {"queries", map.queries},
                    {"keys", map.keys},
                    {"heads", map.heads},
                    {"weights", map.weights}});
  }
  return {{"step", of.step},
          {"prompt", of.prompt},
          {"answer", of.answer},
          {"omitted", of.omitted},
          {"maps", std::move(maps)}};
}

ReportRecord::Snapshot snapshot_of(const RecordJson& json) {
  ReportRecord::Snapshot out{
      json.at("step"), json.at("prompt"), json.at("answer"), {}, json.at("omitted")};
  for (const RecordJson& map : json.at("maps")) {
    ReportRecord::Map of{map.at("path"), map.at("cross"), map.at("queries"),
                         map.at("keys"), map.at("heads"), map.at("weights")};
    const size_t queries = of.queries.size(), keys = of.keys.size();
    require<IoError>(of.heads >= 1 && of.heads <= int64_t{most_names} && queries <= most_names &&
                         keys <= most_names,
                     "too many heads or tokens");
    const size_t bytes = static_cast<size_t>(of.heads) * queries * keys;
    require<IoError>(of.weights.size() == (bytes + 2) / 3 * 4, "not as many weights as tokens");
    out.maps.push_back(std::move(of));
  }
  return out;
}

std::optional<double> share_of(const RecordJson& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

RecordJson share_json(std::optional<double> share) {
  return share ? RecordJson(*share) : RecordJson();
}

RecordJson hardest_json(const std::vector<ReportRecord::HardExample>& hardest) {
  RecordJson all = RecordJson::array();
  for (const ReportRecord::HardExample& of : hardest) {
    all.push_back({{"place", of.location},
                   {"given", of.input_text},
                   {"wanted", of.target_text},
                   {"answer", of.answer},
                   {"loss", of.loss}});
  }
  return all;
}

// What tasks on users' files have; not in 0.2.0 and before.
void read_examples(const RecordJson& json, ReportRecord& record) {
  if (json.contains("classes")) {
    record.classes = {json.at("classes").at("names"), json.at("classes").at("confusion")};
    const size_t count = record.classes.names.size();
    const auto& rows = record.classes.confusion;
    require<IoError>(
        rows.size() == count && std::all_of(rows.begin(), rows.end(),
                                            [&](const auto& row) { return row.size() == count; }),
        "not as many answers as classes");
  }
  for (const RecordJson& of : json.value("hardest", RecordJson::array())) {
    record.hardest.push_back(
        {of.at("place"), of.at("given"), of.at("wanted"), of.at("answer"), of.at("loss")});
  }
}

RecordJson heads_json(const ReportRecord::HeadsAt& at) {
  RecordJson heads = RecordJson::array();
  for (const ReportRecord::HeadsAt::Head& of : at.heads) {
    heads.push_back({{"name", of.name},
                     {"previous_token", of.previous_token},
                     {"duplicate_token", of.duplicate_token},
                     {"induction", of.induction},
                     {"first_token", of.first_token}});
  }
  return {{"step", at.step}, {"heads", std::move(heads)}};
}

ShownPicture picture_of(const RecordJson& json) {
  ShownPicture picture{json.at("height"), json.at("width"), json.at("side"), json.at("class_token"),
                       json.at("pixels")};
  const auto& [height, width, side, class_token, pixels] = picture;
  require<IoError>(side > 0 && height > 0 && width > 0 && height <= int64_t{most_names} &&
                       width <= int64_t{most_names} && height % side == 0 && width % side == 0 &&
                       height * width == std::ssize(pixels),
                   "not as many pixels as height and width say");
  return picture;
}

ReportRecord record_of(const RecordJson& json) {
  ReportRecord record;
  for (const RecordJson& fact : json.at("facts")) {
    record.facts.emplace_back(fact.at(0), fact.at(1));
  }
  record.target = json.value("target", "");  // not in reports of version 0.1
  record.outputs = json.value("outputs", int64_t{0});
  for (const RecordJson& of : json.at("evaluations")) {
    record.evaluations.push_back({of.at("step"), share_of(of.at("accuracy")),
                                  share_of(of.at("exact_match")), of.value("seconds", 0.0)});
  }
  for (const RecordJson& of :
       json.value("heads", RecordJson::array())) {  // not in 0.2.0 and before
    ReportRecord::HeadsAt at{of.at("step"), {}};
    for (const RecordJson& head : of.at("heads")) {
      at.heads.push_back({head.at("name"), head.at("previous_token"), head.at("duplicate_token"),
                          head.at("induction"), head.at("first_token")});
    }
    record.heads.push_back(std::move(at));
  }
  for (const RecordJson& of : json.at("by_length")) {
    record.by_length.push_back({of.at("targets"), of.at("sequences"), of.at("exact")});
  }
  for (const RecordJson& of : json.at("snapshots")) {
    record.snapshots.push_back(snapshot_of(of));
  }
  read_examples(json, record);
  if (json.contains("picture")) {
    record.picture = picture_of(json.at("picture"));
  }
  return record;
}

}  // namespace

std::string to_json(const ReportRecord& record) {
  RecordJson evaluations = RecordJson::array(), heads = RecordJson::array(),
             by_length = RecordJson::array(), snapshots = RecordJson::array();
  for (const ReportRecord::HeadsAt& of : record.heads) {
    heads.push_back(heads_json(of));
  }
  for (const ReportRecord::Evaluated& of : record.evaluations) {
    evaluations.push_back({{"step", of.step},
                           {"accuracy", share_json(of.accuracy)},
                           {"exact_match", share_json(of.exact_match)},
                           {"seconds", of.seconds}});
  }
  for (const ReportRecord::Length& of : record.by_length) {
    by_length.push_back(
        {{"targets", of.targets}, {"sequences", of.sequences}, {"exact", of.exact}});
  }
  for (const ReportRecord::Snapshot& of : record.snapshots) {
    snapshots.push_back(snapshot_json(of));
  }
  RecordJson json{{"facts", record.facts},
                  {"target", record.target},
                  {"outputs", record.outputs},
                  {"evaluations", std::move(evaluations)},
                  {"heads", std::move(heads)},
                  {"by_length", std::move(by_length)},
                  {"snapshots", std::move(snapshots)}};
  if (!record.classes.names.empty()) {
    json["classes"] = {{"names", record.classes.names}, {"confusion", record.classes.confusion}};
  }
  if (!record.hardest.empty()) {
    json["hardest"] = hardest_json(record.hardest);
  }
  if (record.picture) {
    json["picture"] = RecordJson::parse(to_json(*record.picture));
  }
  // Replaces bytes that are not UTF-8 (half a character of a byte tokenizer).
  return json.dump(-1, ' ', false, RecordJson::error_handler_t::replace);
}

ReportRecord read_record(const std::filesystem::path& path) {
  try {
    return record_of(RecordJson::parse(read_file(path, max_record_bytes)));
  } catch (const std::exception&) {  // there is none, or it is damaged
    return {};
  }
}

}  // namespace heed
