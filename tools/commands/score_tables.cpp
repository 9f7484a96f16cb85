#include "tools/commands/score_tables.h"

#include <algorithm>

#include "layers/text/display.h"
#include "layers/text/formatted.h"
#include "tools/terminal/table.h"

namespace heed::cli {

namespace {

using Cell = ScoreTable::Cell;

std::string cell_text(const Cell& cell) {
  if (const auto* count = std::get_if<int64_t>(&cell)) {
    return std::to_string(*count);
  }
  if (const auto* name = std::get_if<std::string>(&cell)) {
    return printable(*name);
  }
  const auto share = std::get<std::optional<double>>(cell);
  return share ? formatted("%.2f%%", 100 * *share) : "";
}

}  // namespace

std::string table_text(const ScoreTable& table) {
  if (table.rows.size() < 2) {
    return "";
  }
  std::vector<Align> sides;
  std::vector<std::string> titles;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const bool names = std::holds_alternative<std::string>(table.rows[0][i]);
    sides.push_back(names ? Align::left : Align::right);
    titles.push_back(table.columns[i].title);
  }
  Table shown(sides);
  shown.add(titles);
  for (const std::vector<Cell>& row : table.rows) {
    std::vector<std::string> cells;
    std::transform(row.begin(), row.end(), std::back_inserter(cells), cell_text);
    shown.add(cells);
  }
  return shown.text();
}

}  // namespace heed::cli
