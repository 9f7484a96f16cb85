#include "tools/extras/bpe/train/splitter.h"

#include <algorithm>

#include "autograd/threads/parallel.h"
#include "tools/extras/bpe/train/text/published_patterns.h"

namespace heed {

namespace {

// Moves a byte offset back to the beginning of its character.
size_t character_at(std::string_view text, size_t at) {
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) {
    --at;
  }
  return at;
}

}  // namespace

Splitter::Splitter(const std::vector<SplitRule>& rules, const std::string& where) {
  for (const SplitRule& rule : rules) {
    rules_.push_back({Pattern(pattern_for_pcre2(rule.pattern, where), where), rule.keep});
  }
}

Cutter::Cutter(const Splitter& splitter) : splitter_(splitter) {
  for (const Splitter::Rule& rule : splitter.rules_) {
    matchers_.emplace_back(rule.pattern);
  }
}

SplitStep Cutter::next(std::string_view text, size_t at, size_t rule) {
  const std::optional<Match> match = matchers_[rule].find(text, at);
  return match ? SplitStep{at, match->begin, match->end} : SplitStep{at, text.size(), text.size()};
}

std::vector<SplitStep> Splitter::steps(std::string_view text, size_t from, size_t until,
                                       int threads) const {
  if (rules_.empty()) {
    return {{from, text.size(), text.size()}};
  }
  const auto count = static_cast<size_t>(std::max(1, threads));
  std::vector<size_t> starts;  // of the walks
  for (size_t k = 0; k < count; ++k) {
    const size_t at = character_at(text, from + (until - from) / count * k);
    if (starts.empty() || at > starts.back()) {
      starts.push_back(at);
    }
  }
  std::vector<Cutter> cutters;
  cutters.reserve(starts.size());
  for (size_t k = 0; k < starts.size(); ++k) {
    cutters.emplace_back(*this);
  }
  std::vector<std::vector<SplitStep>> walks(starts.size());
  const auto walk = [&](int64_t first, int64_t last) {
    for (auto k = static_cast<size_t>(first); k < static_cast<size_t>(last); ++k) {
      const size_t stop = k + 1 < starts.size() ? starts[k + 1] : until;
      for (size_t at = starts[k]; at < stop; at = walks[k].back().end) {
        walks[k].push_back(cutters[k].next(text, at, 0));
      }
    }
  };
  if (starts.size() == 1) {
    walk(0, 1);
  } else {
    parallel_for(static_cast<int64_t>(starts.size()), 1, walk);
  }

  std::vector<SplitStep> joined = std::move(walks[0]);
  for (size_t k = 1; k < walks.size() && joined.back().end < until; ++k) {
    // Goes on until the place is one where walk k has been.
    auto meeting = walks[k].begin();
    while (true) {
      const size_t at = joined.back().end;
      meeting = std::find_if(meeting, walks[k].end(),
                             [&](const SplitStep& step) { return step.begin >= at; });
      if (meeting == walks[k].end() || meeting->begin == at) {
        break;
      }
      joined.push_back(cutters[0].next(text, at, 0));
    }
    joined.insert(joined.end(), meeting, walks[k].end());
  }
  while (joined.back().end < until) {
    joined.push_back(cutters[0].next(text, joined.back().end, 0));
  }
  return joined;
}

}  // namespace heed
