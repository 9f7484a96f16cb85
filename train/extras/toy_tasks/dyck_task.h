// Nested brackets of several kinds, up to a depth: which bracket has to close next. The language is
// Dyck-(k, m): Hewitt et al. 2020, "RNNs Can Generate Bounded Hierarchical Languages with Optimal
// Memory"; Yao et al. 2021, "Self-Attention Networks Can Process Bounded Hierarchical Languages".
//   ids (B, length): a prefix of a word of the language
//   target_t = the bracket that closes the innermost one open after t; ignored where none is open
// A bracket opens with probability 1/2 where it may either open or close, of each kind alike.
#pragma once

#include <numeric>

#include "train/extras/toy_tasks/symbol_task.h"

namespace heed {

struct Dyck {
  static constexpr const char* help = "nested brackets: which one closes next";

  int64_t length = 32;
  int64_t kinds = 3;
  int64_t depth = 4;
  void fields(Fields& f) {
    f.optional("length", length, in_range(4, 1024), "brackets of a sequence");
    f.optional("kinds", kinds, in_range(1, 4), "kinds of brackets: ( ) [ ] { } < >");
    f.optional("depth", depth, in_range(1, 512), "largest number of open brackets");
  }
  void check(ConfigErrors& errors, const ConfigNode& at) const {
    if (kinds == 1 && depth == 1) {
      errors.add_field(at, "depth", "with one kind of brackets expected 2 or more: at depth 1, ",
                       "()() is the only sequence, and none is left to hold out");
    }
  }

  std::vector<std::string> names() const {
    const std::string all = "()[]{}<>";
    std::vector<std::string> names;
    for (const char bracket : all.substr(0, static_cast<size_t>(2 * kinds))) {
      names.emplace_back(1, bracket);
    }
    return names;
  }
  int64_t tokens() const { return length; }
  HeldOut held_out() const { return tenth_of(sequences()); }
  std::string description() const {
    return text("dyck: sequences of ", length, " brackets of ", kinds,
                kinds == 1 ? " kind" : " kinds", ", at most ", depth, " open");
  }

  Question draw(Generator& generator) const {
    Question brackets, open;
    while (static_cast<int64_t>(brackets.size()) < length) {
      const bool may_open = static_cast<int64_t>(open.size()) < depth;
      if (open.empty() || (may_open && draw_below(generator, 2) == 0)) {
        open.push_back(draw_below(generator, static_cast<size_t>(kinds)));
        brackets.push_back(2 * open.back());
      } else {
        brackets.push_back(2 * open.back() + 1);
        open.pop_back();
      }
    }
    return brackets;
  }

  void write(const Question& brackets, std::span<int32_t> ids, std::span<int32_t> targets) const {
    std::vector<int32_t> open;
    for (size_t t = 0; t < ids.size(); ++t) {
      ids[t] = brackets[t];
      if (ids[t] % 2 == 0) {
        open.push_back(ids[t]);
      } else {
        open.pop_back();
      }
      if (!open.empty()) {
        targets[t] = open.back() + 1;
      }
    }
  }

 private:
  // How many different sequences there are. ending[d]: of those so far, how many leave d open.
  double sequences() const {
    std::vector<double> ending(static_cast<size_t>(depth) + 2, 0);
    ending[0] = 1;
    for (int64_t t = 0; t < length; ++t) {
      std::vector<double> longer(ending.size(), 0);
      for (size_t d = 0; d <= static_cast<size_t>(depth); ++d) {
        longer[d] = (d > 0 ? static_cast<double>(kinds) * ending[d - 1] : 0) + ending[d + 1];
      }
      ending = std::move(longer);
    }
    return std::accumulate(ending.begin(), ending.end(), 0.0);
  }
};
using DyckTask = SymbolTask<Dyck>;
HEED_TASK(DyckTask, "dyck");

}  // namespace heed
