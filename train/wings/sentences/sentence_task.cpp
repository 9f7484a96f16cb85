#include "train/wings/sentences/sentence_task.h"

#include <algorithm>

#include "autograd/base/modes.h"
#include "train/files/number_words.h"
#include "train/wings/classes/prompt_length.h"

namespace heed {

SentenceTask::SentenceTask(const Vocabulary& vocabulary)
    : tokenizer_(with_marks(vocabulary.words, {"<class>"})),
      classes_(vocabulary.classes),
      longest_(vocabulary.longest),
      format_(tokenizer_.id("<class>")) {}

std::vector<std::pair<std::string, int64_t>> SentenceTask::model_sizes() const {
  return {{"vocab_size", tokenizer_.vocab_size()},
          {"num_classes", std::ssize(classes_)},
          {"context_length", longest_ + 1}};
}

Batch SentenceTask::batch(std::span<const Question> questions) const {
  const auto count = static_cast<int64_t>(questions.size());
  Batch batch = format_.blank(count, longest_);
  for (int64_t i = 0; i < count && !dry_run(); ++i) {
    const Sentence made = sentence(questions[static_cast<size_t>(i)]);
    std::vector<int32_t> ids;
    std::transform(made.words.begin(), made.words.end(), std::back_inserter(ids),
                   [&](const std::string& word) { return tokenizer_.id(word); });
    format_.fill(batch, i, ids, made.label);
  }
  return batch;
}

void SentenceTask::check_prompt(const std::string& prompt) const {
  require_length(tokenizer_.encode(prompt).size(), longest_, "word");
}

Answer SentenceTask::answer(Module& model, const std::string& prompt,
                            const AnswerOptions& options) const {
  check_prompt(prompt);
  LabelFormat::Prediction chosen = format_.classify(model, tokenizer_.encode(prompt));
  Answer answer{chosen.text(classes_[static_cast<size_t>(chosen.label)]), std::move(chosen.shown)};
  options.say(answer.text);
  return answer;
}

std::string SentenceTask::described() const {
  return text("sentences with ", tokenizer_.vocab_size() - 1, " words, made as they are needed; ",
              grouped(example_count(Split::validation)), " with other combinations held out");
}

}  // namespace heed
