#include "train/wings/sentences/sentence_task.h"

#include <algorithm>

#include "train/files/number_words.h"
#include "train/wings/classes/prompt_length.h"

namespace heed {

SentenceText::SentenceText(const SentenceWords& vocabulary)
    : tokenizer_(with_marks(vocabulary.words, {"<class>"})),
      classes_(vocabulary.classes),
      longest_(vocabulary.longest),
      format_(tokenizer_.id("<class>")) {}

std::vector<std::pair<std::string, int64_t>> SentenceText::model_sizes() const {
  return {{"vocab_size", tokenizer_.vocab_size()},
          {"num_classes", std::ssize(classes_)},
          {"context_length", longest_ + 1}};
}

std::string SentenceText::description(int64_t held_out) const {
  return text("sentences with ", tokenizer_.vocab_size() - 1, " words, made as they are needed; ",
              grouped(held_out), " with other combinations held out");
}

void SentenceText::check_prompt(const std::string& prompt) const {
  require_length(tokenizer_.encode(prompt).size(), longest_, "word");
}

Answer SentenceText::answer(Module& model, const std::string& prompt,
                            const AnswerOptions& options) const {
  check_prompt(prompt);
  LabelFormat::Prediction chosen = format_.classify(model, tokenizer_.encode(prompt));
  Answer answer{chosen.text(name_of_class(chosen.label)), std::move(chosen.shown)};
  options.say(answer.text);
  return answer;
}

void SentenceText::fill(Batch& batch, int64_t i, const Sentence& made) const {
  std::vector<int32_t> ids;
  std::transform(made.words.begin(), made.words.end(), std::back_inserter(ids),
                 [&](const std::string& word) { return tokenizer_.id(word); });
  format_.fill(batch, i, ids, made.label);
}

}  // namespace heed
