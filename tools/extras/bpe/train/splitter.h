// Cuts a text into the pieces whose bytes merge with each other, by the rules of a tokenizer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/extras/bpe/train/model.h"
#include "tools/extras/bpe/train/text/pattern.h"

namespace heed {

// One step of a rule through a text: the gap [begin, match), then the match [match, end). Either
// may be empty, not both. The last step may have no match: match = end = the end of the text.
struct SplitStep {
  size_t begin = 0;
  size_t match = 0;
  size_t end = 0;
};

class Splitter {
 public:
  // `where` begins the messages about patterns.
  Splitter(const std::vector<SplitRule>& rules, const std::string& where);

  // The steps of the first rule from byte `from` to the first one that ends at or after `until`.
  // `text` is valid UTF-8, both are beginnings of characters or its end, and from < until. Without
  // rules, one step without a match.
  //
  // `threads` of them share the work, with the same result. This is possible since the only state
  // of the walk is the place where a step begins: two walks that meet stay together. Each thread
  // starts somewhere in the text, and a walk ends where it meets the one after it.
  std::vector<SplitStep> steps(std::string_view text, size_t from, size_t until,
                               int threads = 1) const;

 private:
  friend class Cutter;
  struct Rule {
    Pattern pattern;
    SplitRule::Keep keep;
  };
  std::vector<Rule> rules_;
};

// Applies the rules. Each thread needs its own. The splitter must outlive it.
class Cutter {
 public:
  explicit Cutter(const Splitter& splitter);

  // Calls each(piece) for the pieces of a step of the first rule, in order. None is empty.
  template <class F>
  void cut(std::string_view text, const SplitStep& step, F&& each) {
    keep(text, step, 0, each);
  }
  // The same for a whole text.
  template <class F>
  void cut(std::string_view text, F&& each) {
    cut_by(text, 0, each);
  }

 private:
  friend class Splitter;

  template <class F>
  void keep(std::string_view text, const SplitStep& step, size_t rule, F&& each) {
    const bool none = splitter_.rules_.empty();
    const auto keep = none ? SplitRule::Keep::all : splitter_.rules_[rule].keep;
    if (step.match > step.begin && keep != SplitRule::Keep::matches) {
      cut_by(text.substr(step.begin, step.match - step.begin), rule + 1, each);
    }
    if (step.end > step.match && keep != SplitRule::Keep::gaps) {
      cut_by(text.substr(step.match, step.end - step.match), rule + 1, each);
    }
  }

  // Cuts by the rules from number `rule`.
  template <class F>
  void cut_by(std::string_view text, size_t rule, F&& each) {
    if (rule >= matchers_.size()) {
      if (!text.empty()) {
        each(text);
      }
      return;
    }
    for (size_t at = 0; at < text.size();) {
      const SplitStep step = next(text, at, rule);
      keep(text, step, rule, each);
      at = step.end;
    }
  }

  SplitStep next(std::string_view text, size_t at, size_t rule);

  const Splitter& splitter_;
  std::vector<Matcher> matchers_;  // of each rule
};

}  // namespace heed
