#include "train/extras/toy_tasks/grammar.h"

#include <algorithm>
#include <locale>
#include <set>
#include <sstream>

namespace heed {

void append_words(std::vector<std::string>& words, const std::string& text) {
  std::istringstream in(text);
  in.imbue(std::locale::classic());
  for (std::string word; in >> word;) {
    words.push_back(word);
  }
}

std::vector<std::string> words_of(const std::vector<std::vector<std::string>>& lists) {
  std::vector<std::string> words;
  for (const std::vector<std::string>& list : lists) {
    for (const std::string& text : list) {
      append_words(words, text);
    }
  }
  return different_words(words);
}

std::vector<std::string> different_words(const std::vector<std::string>& words) {
  std::vector<std::string> different;
  std::set<std::string> seen;
  std::copy_if(words.begin(), words.end(), std::back_inserter(different),
               [&](const std::string& word) { return seen.insert(word).second; });
  return different;
}

}  // namespace heed
