// A table of an evaluation: with titles for people, with keys for programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace heed {

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

// `part` of `whole`, for such a cell.
inline std::optional<double> share_of(int64_t part, int64_t whole) {
  return whole > 0 ? std::optional(static_cast<double>(part) / static_cast<double>(whole))
                   : std::nullopt;
}

}  // namespace heed
