// Translation word by word: a baseline for tasks that read one sequence and write another. A table
// gives each word of the source its most probable translation; these are written in the order of
// the source.
//
// The table is that of IBM Model 1: each word e of a target comes from one of the words f of its
// source, wherever they are. Expectation maximisation over pairs of sentences, from t = 1:
//   c(e, f)   =   sum over the pairs of  t(e | f) / sum_f' t(e | f')
//   t(e | f)  <-  c(e, f) / sum_e' c(e', f)
// Source: Brown et al. 1993, "The Mathematics of Statistical Machine Translation", section 4.1.
#pragma once

#include "train/data/task.h"

namespace heed {

class WordTable {
 public:
  // Learns from training examples of the task, at most 20,000 of them. Throws ConfigError for a
  // task that has no source_ids, has no training examples, or too many words for a table.
  explicit WordTable(const Task& task);

  int64_t pairs() const { return pairs_; }  // that it has learned from
  std::vector<int32_t> translate(std::span<const int32_t> source) const;
  // Counts the targets and sequences of all validation examples that it translates correctly.
  Score score(const Task& task) const;

 private:
  int64_t pairs_ = 0;
  std::vector<int32_t> best_;  // the translation of each word of the source
};

}  // namespace heed
