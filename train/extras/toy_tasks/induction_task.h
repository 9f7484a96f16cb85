// A segment of distinct symbols, repeated again and again: what followed a symbol before follows it
// again. Two blocks learn it by an induction head: a head of the first block attends to the
// previous token, and one of the second uses what that wrote to find what followed the current
// token before. Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; Olsson et
// al. 2022, "In-context Learning and Induction Heads".
//   ids_t = segment_(t mod P),  t = 0 ... length - 1
//   target_t = ids_(t + 1) for t >= P, from the second occurrence on
// The period P is drawn from min_period to length / 2 for each sequence. With one fixed P, a single
// block could solve the task by positions alone.
#pragma once

#include "train/extras/toy_tasks/distinct.h"
#include "train/extras/toy_tasks/symbol_task.h"

namespace heed {

struct Induction {
  static constexpr const char* help = "a repeated segment of symbols: what comes next";

  int64_t length = 32;
  int64_t min_period = 4;
  int64_t symbols = 32;
  void fields(Fields& f) {
    f.optional("length", length, in_range(4, 1024), "symbols of a sequence");
    f.optional("min_period", min_period, in_range(2, 512),
               "symbols of the shortest segment; the longest has length / 2");
    f.optional("symbols", symbols, in_range(2, 65000), "different symbols there are");
  }
  void check(ConfigErrors& errors, const ConfigNode& at) const {
    if (min_period > length / 2) {
      errors.add_field(at, "min_period", "must be at most length / 2 = ", length / 2, ", got ",
                       min_period);
    }
    if (symbols < length / 2) {
      errors.add_field(at, "symbols", "must be at least length / 2 = ", length / 2,
                       ", since a segment has distinct symbols, got ", symbols);
    }
  }

  std::vector<std::string> names() const { return numbers_below(symbols); }
  int64_t tokens() const { return length; }
  HeldOut held_out() const {
    double all = 0;
    for (int64_t period = min_period; period <= length / 2; ++period) {
      all += arrangements(symbols, period);
    }
    return {tenth_of(all), {}, [of = symbols](size_t period) {
              return tenth_of(arrangements(of, static_cast<int64_t>(period))) + 1;
            }};
  }
  std::string description() const {
    return text("induction: segments of ", min_period, " to ", length / 2, " out of ", symbols,
                " symbols, repeated to ", length);
  }

  // The segment.
  Question draw(Generator& generator) const {
    const auto periods = static_cast<size_t>(length / 2 - min_period + 1);
    const int64_t period = min_period + draw_below(generator, periods);
    return draw_distinct(generator, symbols, period);
  }

  void write(const Question& segment, std::span<int32_t> ids, std::span<int32_t> targets) const {
    for (size_t t = 0; t < ids.size(); ++t) {
      ids[t] = segment[t % segment.size()];
      if (t >= segment.size()) {
        targets[t] = segment[(t + 1) % segment.size()];
      }
    }
  }
};
using InductionTask = SymbolTask<Induction>;
HEED_TASK(InductionTask, "induction");

}  // namespace heed
