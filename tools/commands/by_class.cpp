#include "tools/commands/by_class.h"

#include <numeric>

#include "layers/text/display.h"
#include "layers/text/formatted.h"
#include "tools/terminal/table.h"

namespace heed::cli {

std::vector<ClassScore> class_scores(const Confusion& confusion,
                                     const std::vector<std::string>& names) {
  const auto share = [](int64_t part, int64_t whole) -> std::optional<double> {
    return whole > 0 ? std::optional(static_cast<double>(part) / static_cast<double>(whole))
                     : std::nullopt;
  };
  std::vector<ClassScore> scores;
  for (size_t k = 0; k < confusion.size(); ++k) {
    const std::vector<int64_t>& row = confusion[k];
    const int64_t examples = std::accumulate(row.begin(), row.end(), int64_t{0});
    const int64_t answers =
        std::accumulate(confusion.begin(), confusion.end(), int64_t{0},
                        [k](int64_t sum, const std::vector<int64_t>& of) { return sum + of[k]; });
    scores.push_back({names[k], examples, share(row[k], answers), share(row[k], examples)});
  }
  return scores;
}

std::string by_class_text(const std::vector<ClassScore>& scores) {
  if (scores.empty()) {
    return "";
  }
  Table table({Align::left, Align::right, Align::right, Align::right});
  table.add({"class", "examples", "precision", "recall"});
  const auto percent = [](std::optional<double> share) {
    return share ? formatted("%.2f%%", 100 * *share) : std::string();
  };
  for (const ClassScore& of : scores) {
    table.add({printable(of.name), std::to_string(of.examples), percent(of.precision),
               percent(of.recall)});
  }
  return table.text();
}

}  // namespace heed::cli
