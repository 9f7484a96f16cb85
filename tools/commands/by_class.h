// How a classifier does on each class: for `heed eval`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed::cli {

using Confusion = std::vector<std::vector<int64_t>>;  // [class][answer], as in Score

struct ClassScore {
  std::string name;
  int64_t examples = 0;
  std::optional<double> precision;  // of its answers, how many are right; none without an answer
  std::optional<double> recall;     // of its examples, how many are found; none without an example
};
std::vector<ClassScore> class_scores(const Confusion& confusion,
                                     const std::vector<std::string>& names);

// A table of lines; "" without classes.
std::string by_class_text(const std::vector<ClassScore>& scores);

// [{"class": "neg", "examples": 34, "precision": 0.5, "recall": null}, ...]
template <class Json>
Json by_class_json(const std::vector<ClassScore>& scores) {
  const auto number = [](std::optional<double> value) { return value ? Json(*value) : Json(); };
  Json rows = Json::array();
  for (const ClassScore& of : scores) {
    rows.push_back({{"class", of.name},
                    {"examples", of.examples},
                    {"precision", number(of.precision)},
                    {"recall", number(of.recall)}});
  }
  return rows;
}

}  // namespace heed::cli
