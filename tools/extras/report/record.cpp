#include "tools/extras/report/record.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "layers/text/utf8.h"
#include "tools/extras/report/pages/base64.h"
#include "train/files/files.h"

// A share that was not counted is null.
template <>
struct nlohmann::adl_serializer<std::optional<double>> {
  static void to_json(json& to, const std::optional<double>& share) {
    to = share ? json(*share) : json();
  }
  static void from_json(const json& from, std::optional<double>& share) {
    share = from.is_null() ? std::nullopt : std::optional(from.get<double>());
  }
};

namespace heed {

namespace {

using RecordJson = nlohmann::json;

constexpr size_t most_snapshots = 12;
constexpr size_t most_evaluations = 400;
constexpr size_t most_heads = 64, most_heads_at = 200;
constexpr int64_t fewest_rows = 8;  // shorter sequences are not cut
constexpr size_t most_names = 100'000;
constexpr int64_t max_record_bytes = 16'000'000;

// Keeps the first `rows` rows and columns.
ReportRecord::Map quantised(const AttentionMap& map, int64_t rows) {
  const int64_t heads = map.weights.dim(0), queries = map.weights.dim(1), keys = map.weights.dim(2);
  const int64_t t_end = std::min(rows, queries), s_end = std::min(rows, keys);
  std::vector<uint8_t> bytes;
  for (int64_t h = 0; h < heads; ++h) {
    for (int64_t t = 0; t < t_end; ++t) {
      for (const real weight : map.row(h, t).first(static_cast<size_t>(s_end))) {
        bytes.push_back(static_cast<uint8_t>(std::lround(255 * std::clamp<real>(weight, 0, 1))));
      }
    }
  }
  ReportRecord::Map out{map.path, map.cross, map.queries,
                        map.keys, heads,     to_base64(std::as_bytes(std::span(bytes)))};
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

std::string cut_text(std::string_view text, size_t most) {
  return text.size() <= most ? std::string(text)
                             : std::string(whole_characters(text.substr(0, most))) + "...";
}

std::vector<ReportRecord::HardExample> readable(const std::vector<Score::HardExample>& hardest,
                                                Module& model, const ReadableExamples& examples) {
  constexpr size_t most_bytes = 2000;
  std::vector<ReportRecord::HardExample> all;
  for (const Score::HardExample& of : hardest) {
    const auto cut = [](const std::string& text) { return cut_text(text, most_bytes); };
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
  thin_out(evaluations, most_evaluations);
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
  thin_out(heads, most_heads_at);
}

void ReportRecord::add(Snapshot snapshot) {
  snapshots.push_back(std::move(snapshot));
  thin_out(snapshots, most_snapshots);
}

// ---- report.json

// The keys are the names of the members. What is left out has its default.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ReportRecord::Evaluated, step, accuracy,
                                                exact_match, seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ReportRecord::HeadsAt::Head, name, previous_token,
                                                duplicate_token, induction, first_token)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ReportRecord::HeadsAt, step, heads)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ReportRecord::Length, targets, sequences, exact)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ReportRecord::Map, path, cross, queries, keys,
                                                heads, weights)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ReportRecord::Snapshot, step, prompt, answer,
                                                omitted, maps)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ReportRecord::Classes, names, confusion)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ReportRecord::HardExample, place, given, wanted,
                                                answer, loss)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ReportRecord, facts, target, outputs, evaluations,
                                                heads, by_length, snapshots, classes, hardest)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ShownPicture, height, width, side, class_token, pixels)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Plane, low, high, cells, points)

namespace {

void require_sizes(const ReportRecord::Map& of) {
  const size_t queries = of.queries.size(), keys = of.keys.size();
  require<IoError>(of.heads >= 1 && of.heads <= int64_t{most_names} && queries <= most_names &&
                       keys <= most_names,
                   "too many heads or tokens");
  const size_t bytes = static_cast<size_t>(of.heads) * queries * keys;
  require<IoError>(of.weights.size() == (bytes + 2) / 3 * 4, "not as many weights as tokens");
}

void require_sizes(const ReportRecord::Classes& classes) {
  const size_t count = classes.names.size();
  const auto& rows = classes.confusion;
  require<IoError>(
      rows.size() == count && std::all_of(rows.begin(), rows.end(),
                                          [&](const auto& row) { return row.size() == count; }),
      "not as many answers as classes");
}

void require_sizes(const ShownPicture& picture) {
  const auto& [height, width, side, class_token, pixels] = picture;
  require<IoError>(side > 0 && height > 0 && width > 0 && height <= int64_t{most_names} &&
                       width <= int64_t{most_names} && height % side == 0 && width % side == 0 &&
                       height * width == std::ssize(pixels),
                   "not as many pixels as height and width say");
}

ReportRecord record_of(const RecordJson& json) {
  auto record = json.get<ReportRecord>();
  for (const ReportRecord::Snapshot& snapshot : record.snapshots) {
    for (const ReportRecord::Map& map : snapshot.maps) {
      require_sizes(map);
    }
  }
  require_sizes(record.classes);
  if (json.contains("picture")) {
    record.picture = json.at("picture").get<ShownPicture>();
    require_sizes(*record.picture);
  }
  if (json.contains("plane")) {
    record.plane = json.at("plane").get<Plane>();
    require<IoError>(record.plane->cells.size() == Plane::side * Plane::side,
                     "a plane of other cells");
  }
  return record;
}

}  // namespace

std::string to_json(const ReportRecord& record) {
  RecordJson json = record;
  if (record.classes.names.empty()) {
    json.erase("classes");
  }
  if (record.hardest.empty()) {
    json.erase("hardest");
  }
  if (record.picture) {
    json["picture"] = *record.picture;
  }
  if (record.plane) {
    json["plane"] = *record.plane;
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
