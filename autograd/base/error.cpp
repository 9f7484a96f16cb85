#include "autograd/base/error.h"

#include <algorithm>
#include <numeric>

namespace heed {

namespace {

// The number of edits (insert, delete, replace, swap two neighbours) that turn a into b: the
// Damerau-Levenshtein distance. After step i, row[j] is the distance of the first i characters of a
// and the first j of b; `before` is the row of step i - 1.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      next[j] = std::min({replaced, row[j] + 1, next[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) {
        next[j] = std::min(next[j], before[j - 2] + 1);
      }
    }
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  constexpr size_t longest_word =
      100;  // a longer one is no misspelling, and the search is quadratic
  if (word.size() > longest_word) {
    return "";
  }
  std::string best;
  size_t fewest = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const size_t lengths[] = {word.size(), candidate.size()};
    if (std::max(lengths[0], lengths[1]) - std::min(lengths[0], lengths[1]) >= fewest) {
      continue;  // the difference in length is a lower bound of the distance
    }
    const size_t edits = edit_distance(word, candidate);
    if (edits < fewest) {
      fewest = edits;
      best = candidate;
    }
  }
  return best;
}

}  // namespace heed
