#include "train/wings/translation/reorder_translation_task.h"

#include <locale>

#include "train/wings/translation/toy_german.h"

namespace heed {

ReorderTranslationTask::ReorderTranslationTask(const Config&, const TaskSetup& setup)
    : PairTask(toy_german::german_words(), toy_german::english_words(),
               {toy_german::longest, toy_german::longest}) {
  hold_out_some(setup.seed, most_held_out, toy_german::sentences_of_the_documents());
}

MadeTask::Question ReorderTranslationTask::draw(Generator& generator) const {
  return toy_german::draw(generator);
}

PairTask::Pair ReorderTranslationTask::pair(const Question& choices) const {
  const toy_german::Sentence made = toy_german::sentence(choices);
  Pair ids;
  for (const std::string& word : made.german) {
    ids.source.push_back(source_tokenizer()->id(word));
  }
  for (const std::string& word : made.english) {
    ids.target.push_back(tokenizer()->id(word));
  }
  return ids;
}

std::string ReorderTranslationTask::text_of(std::span<const int32_t> target) const {
  std::string sentence = tokenizer()->decode(target);
  if (!sentence.empty()) {
    sentence[0] = std::toupper(sentence[0], std::locale::classic());  // every English word is ASCII
  }
  return sentence;
}

std::string ReorderTranslationTask::description() const {
  return described(text("reorder_translation: sentences of ", toy_german::shortest, " to ",
                        toy_german::longest, " words, ", source_tokenizer()->vocab_size() - 1,
                        " words of German and ", tokenizer()->vocab_size() - 2, " of English"));
}

}  // namespace heed
