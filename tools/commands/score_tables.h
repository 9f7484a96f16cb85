// Tables of an evaluation as text and as JSON, for `heed eval`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace heed::cli {

// With titles for people, with keys for programs.
struct ScoreTable {
  struct Column {
    std::string title;  // "all right"
    std::string key;    // "exact_match"
  };
  // A count, a name, or a share; none where it would be one of nothing.
  using Cell = std::variant<int64_t, std::string, std::optional<double>>;
  std::string key;  // "by_length"
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

// Lines under the titles of the columns. "" for a single row: `heed eval` prints its sum anyway.
std::string table_text(const ScoreTable& table);

template <class Json>
Json cell_json(const ScoreTable::Cell& cell) {
  if (const auto* share = std::get_if<std::optional<double>>(&cell)) {
    return *share ? Json(**share) : Json();
  }
  const auto* count = std::get_if<int64_t>(&cell);
  return count != nullptr ? Json(*count) : Json(std::get<std::string>(cell));
}

// [{"targets": 6, "sequences": 34, "exact_match": 0.5}, ...]
template <class Json>
Json table_json(const ScoreTable& table) {
  Json rows = Json::array();
  for (const std::vector<ScoreTable::Cell>& row : table.rows) {
    Json json;
    for (size_t i = 0; i < row.size(); ++i) {
      json[table.columns[i].key] = cell_json<Json>(row[i]);
    }
    rows.push_back(std::move(json));
  }
  return rows;
}

}  // namespace heed::cli
