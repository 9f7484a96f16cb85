// Pairs of a key and a value, then one of the keys again: its value is the answer. Ba et al. 2016,
// "Using Fast Weights to Attend to the Recent Past", section 4.1; Graves et al. 2014, "Neural
// Turing Machines", section 4.3.
//   ids (B, 2 pairs + 1): key, value, key, value, ..., query;  the keys are distinct
//   The target at the query is the value that followed this key. In between, all is ignored.
#pragma once

#include <algorithm>

#include "train/extras/toy_tasks/distinct.h"
#include "train/extras/toy_tasks/symbol_task.h"

namespace heed {

struct AssociativeRecall {
  static constexpr const char* help = "keys with values, then a key: its value";

  int64_t pairs = 8;
  int64_t keys = 26;
  int64_t values = 10;
  void fields(Fields& f) {
    f.optional("pairs", pairs, in_range(1, 512), "keys, each with a value, before the query");
    f.optional("keys", keys, in_range(2, 30000), "different keys there are");
    f.optional("values", values, in_range(2, 30000), "different values there are");
  }
  void check(ConfigErrors& errors, const ConfigNode& at) const {
    if (pairs > keys) {
      errors.add_field(at, "pairs", "must be at most keys ", keys, ", since keys are distinct, ",
                       "got ", pairs);
    }
  }

  // "k0", "k1", ..., then the values "0", "1", ...
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const std::string& number : numbers_below(keys)) {
      names.push_back("k" + number);
    }
    const std::vector<std::string> numbers = numbers_below(values);
    names.insert(names.end(), numbers.begin(), numbers.end());
    return names;
  }
  int64_t tokens() const { return 2 * pairs + 1; }
  HeldOut held_out() const {
    double all = static_cast<double>(pairs) * arrangements(keys, pairs);
    for (int64_t i = 0; i < pairs; ++i) {
      all *= static_cast<double>(values);
    }
    return tenth_of(all);
  }
  std::string description() const {
    return text("associative_recall: ", pairs, " pairs out of ", keys, " keys and ", values,
                " values");
  }

  // The ids, and the target as the last element.
  Question draw(Generator& generator) const {
    Question question;
    for (const int32_t key : draw_distinct(generator, keys, pairs)) {
      question.push_back(key);
      question.push_back(static_cast<int32_t>(keys) +
                         draw_below(generator, static_cast<size_t>(values)));
    }
    const auto pair = static_cast<size_t>(draw_below(generator, static_cast<size_t>(pairs)));
    question.insert(question.end(), {question[2 * pair], question[2 * pair + 1]});
    return question;
  }

  void write(const Question& question, std::span<int32_t> ids, std::span<int32_t> targets) const {
    std::copy_n(question.begin(), ids.size(), ids.begin());
    targets.back() = question.back();
  }
};
using AssociativeRecallTask = SymbolTask<AssociativeRecall>;
HEED_TASK(AssociativeRecallTask, "associative_recall");

}  // namespace heed
