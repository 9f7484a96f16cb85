#include "tools/commands/eval_tables.h"

#include <nlohmann/json.hpp>
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

nlohmann::ordered_json by_class_json(const std::vector<ClassScore>& scores) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const ClassScore& of : scores) {
    rows.push_back({{"class", of.name},
                    {"examples", of.examples},
                    {"precision", number_json(of.precision)},
                    {"recall", number_json(of.recall)}});
  }
  return rows;
}

namespace {

double share_exact(const Score::Sequences& of) {
  return static_cast<double>(of.exact) / static_cast<double>(of.all);
}

}  // namespace

std::string by_length_text(const SequencesByLength& by_length) {
  if (by_length.size() < 2) {
    return "";
  }
  Table table({Align::right, Align::right, Align::right});
  table.add({"targets", "sequences", "wholly right"});
  for (const auto& [length, sequences] : by_length) {
    table.add({std::to_string(length), std::to_string(sequences.all),
               formatted("%.2f%%", 100 * share_exact(sequences))});
  }
  return table.text();
}

nlohmann::ordered_json by_length_json(const SequencesByLength& by_length) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& [length, sequences] : by_length) {
    rows.push_back({{"targets", length},
                    {"sequences", sequences.all},
                    {"exact_match", share_exact(sequences)}});
  }
  return rows;
}

nlohmann::ordered_json number_json(std::optional<double> value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

}  // namespace heed::cli
