#include "autograd/base/error.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <tuple>

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

// How far a candidate is from a word: the edits, then what they do not share at the beginning, then
// the difference in length.
using Distance = std::tuple<size_t, size_t, size_t>;

size_t difference(size_t a, size_t b) { return std::max(a, b) - std::min(a, b); }

// Both in lower case.
Distance distance(const std::string& word, const std::string& candidate) {
  const auto end = std::mismatch(word.begin(), word.end(), candidate.begin(), candidate.end());
  return {edit_distance(word, candidate), static_cast<size_t>(word.end() - end.first),
          difference(word.size(), candidate.size())};
}

}  // namespace

std::string in_lower_case(std::string word) {
  for (char& c : word) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return word;
}

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  return nearest(word, known, std::max<size_t>(1, word.size() / 3));
}

std::string nearest(const std::string& word, const std::vector<std::string>& known, size_t most) {
  constexpr size_t longest_word =
      100;  // a longer one is no misspelling, and the search is quadratic
  if (known.empty() || word.size() > longest_word) {
    return "";
  }
  const std::string lower = in_lower_case(word);
  const auto is_nearer = [&](const std::string& a, const std::string& b) {
    return distance(lower, in_lower_case(a)) < distance(lower, in_lower_case(b));
  };
  const std::string best = *std::min_element(known.begin(), known.end(), is_nearer);
  const size_t edits = edit_distance(lower, in_lower_case(best));
  return edits <= most ? best : "";
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known,
                         const std::string& otherwise) {
  const std::string near = nearest(word, known);
  return near.empty() ? otherwise : ", did you mean " + near + "?";
}

}  // namespace heed
