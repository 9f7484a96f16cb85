// Pairs of a key and a value, then one of the keys again: its value is the answer. Ba et al. 2016,
// "Using Fast Weights to Attend to the Recent Past", section 4.1; Graves et al. 2014, "Neural
// Turing Machines", section 4.3.
//   ids (B, 2 pairs + 1): key, value, key, value, ..., query;  the keys are distinct
//   The target at the query is the value that followed this key. In between, all is ignored.
#pragma once

#include <algorithm>

#include "train/wings/circuits/symbol_task.h"

namespace heed {

class AssociativeRecallTask final : public SymbolTask {
 public:
  static constexpr const char* help = "keys with values, then a key: its value";

  struct Config {
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
  };

  AssociativeRecallTask(const Config& c, const TaskSetup& setup)
      : SymbolTask(names_of(c), 2 * c.pairs + 1), config(c) {
    double all = static_cast<double>(c.pairs) * arrangements(c.keys, c.pairs);
    for (int64_t i = 0; i < c.pairs; ++i) {
      all *= static_cast<double>(c.values);
    }
    hold_out_some(setup.seed, tenth_of(all));
  }

  std::string description() const override {
    return described(text("associative_recall: ", config.pairs, " pairs out of ", config.keys,
                          " keys and ", config.values, " values"));
  }

  const Config config;

 protected:
  // The ids, and the target as the last element.
  Question draw(Generator& generator) const override {
    Question question;
    for (const int32_t key : draw_distinct(generator, config.keys, config.pairs)) {
      question.push_back(key);
      question.push_back(static_cast<int32_t>(config.keys) +
                         draw_below(generator, static_cast<size_t>(config.values)));
    }
    const auto pair = static_cast<size_t>(draw_below(generator, static_cast<size_t>(config.pairs)));
    question.insert(question.end(), {question[2 * pair], question[2 * pair + 1]});
    return question;
  }

  void write(const Question& question, std::span<int32_t> ids,
             std::span<int32_t> targets) const override {
    std::copy_n(question.begin(), ids.size(), ids.begin());
    targets.back() = question.back();
  }

 private:
  // "k0", "k1", ..., then the values "0", "1", ...
  static std::vector<std::string> names_of(const Config& c) {
    std::vector<std::string> names;
    for (const std::string& number : numbers_below(c.keys)) {
      names.push_back("k" + number);
    }
    const std::vector<std::string> values = numbers_below(c.values);
    names.insert(names.end(), values.begin(), values.end());
    return names;
  }
};
HEED_TASK(AssociativeRecallTask, "associative_recall");

}  // namespace heed
