// What `heed eval` says in tables: how a classifier does on each class, and how many sequences are
// wholly right, by their length.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "train/data/task.h"

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

// Lines; "" without classes.
std::string by_class_text(const std::vector<ClassScore>& scores);
// [{"class": "neg", "examples": 34, "precision": 0.5, "recall": null}, ...]
nlohmann::ordered_json by_class_json(const std::vector<ClassScore>& scores);

using SequencesByLength = std::map<int64_t, Score::Sequences>;

// Lines; "" if all sequences are equally long.
std::string by_length_text(const SequencesByLength& by_length);
// [{"targets": 6, "sequences": 34, "exact_match": 0.5}, ...]
nlohmann::ordered_json by_length_json(const SequencesByLength& by_length);

// null for what was not measured.
nlohmann::ordered_json number_json(std::optional<double> value);

}  // namespace heed::cli
