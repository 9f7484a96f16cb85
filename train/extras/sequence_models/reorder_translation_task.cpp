#include "train/extras/sequence_models/reorder_translation_task.h"

#include <locale>

#include "train/data/prompt_length.h"

namespace heed {

SequencePair ReorderTranslation::pair(const Question& choices, const PairWords& words) const {
  const toy_german::Sentence made = toy_german::sentence(choices);
  SequencePair ids;
  for (const std::string& word : made.german) {
    ids.source.push_back(words.source.id(word));
  }
  for (const std::string& word : made.english) {
    ids.target.push_back(words.target.id(word));
  }
  return ids;
}

void ReorderTranslation::check_length(size_t words) const {
  require_length(words, toy_german::longest, "word");
}

std::string ReorderTranslation::as_text(std::string words) const {
  if (!words.empty()) {
    words[0] = std::toupper(words[0], std::locale::classic());  // every English word is ASCII
  }
  return words;
}

std::string ReorderTranslation::description() const {
  return text("reorder_translation: sentences of ", toy_german::shortest, " to ",
              toy_german::longest, " words, ", source_words().size(), " words of German and ",
              target_words().size(), " of English");
}

}  // namespace heed
