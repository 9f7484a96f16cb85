// How many sequences are wholly right, by their length: for `heed eval` and `heed data`.
#pragma once

#include <map>
#include <string>

#include "train/data/task.h"

namespace heed::cli {

using SequencesByLength = std::map<int64_t, Score::Sequences>;

// A table of lines; "" if all sequences are equally long.
std::string by_length_text(const SequencesByLength& by_length);
double share_exact(const Score::Sequences& of);

// [{"targets": 6, "sequences": 34, "exact_match": 0.5}, ...]
template <class Json>
Json by_length_json(const SequencesByLength& by_length) {
  Json rows = Json::array();
  for (const auto& [length, sequences] : by_length) {
    rows.push_back({{"targets", length},
                    {"sequences", sequences.all},
                    {"exact_match", share_exact(sequences)}});
  }
  return rows;
}

}  // namespace heed::cli
