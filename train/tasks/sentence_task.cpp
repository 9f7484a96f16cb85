#include "train/tasks/sentence_task.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "autograd/base/modes.h"
#include "layers/module/evaluation_mode.h"
#include "train/data/generate.h"
#include "train/files/words.h"

namespace heed {

namespace {

WordTokenizer with_class_token(std::vector<std::string> words) {
  words.push_back("<class>");
  return {std::move(words), 1};
}

}  // namespace

SentenceTask::SentenceTask(const Vocabulary& vocabulary)
    : tokenizer_(with_class_token(vocabulary.words)),
      classes_(vocabulary.classes),
      length_(vocabulary.longest + 1),
      class_token_(tokenizer_.id("<class>")) {}

std::vector<std::pair<std::string, int64_t>> SentenceTask::model_sizes() const {
  return {{"vocab_size", tokenizer_.vocab_size()},
          {"num_classes", output_size()},
          {"context_length", length_}};
}

Batch SentenceTask::batch(std::span<const Question> questions) const {
  const auto count = static_cast<int64_t>(questions.size());
  const Shape shape{count, length_};
  Batch batch{Input(Ids::full(shape, class_token_), Mask::zeros(shape)), Ids::zeros({count})};
  for (int64_t i = 0; i < count && !dry_run(); ++i) {
    const Sentence made = sentence(questions[static_cast<size_t>(i)]);
    int32_t* ids = batch.input.ids.mutable_data() + i * length_;
    std::transform(made.words.begin(), made.words.end(), ids + 1,
                   [&](const std::string& word) { return tokenizer_.id(word); });
    std::fill_n(batch.input.mask.mutable_data() + i * length_, made.words.size() + 1, uint8_t{1});
    batch.targets.mutable_data()[i] = made.label;
  }
  return batch;
}

void SentenceTask::check_prompt(const std::string& prompt) const {
  const auto words = static_cast<int64_t>(tokenizer_.encode(prompt).size());
  require<ConfigError>(words >= 1 && words < length_, "expected 1 to ", length_ - 1, " words, got ",
                       words);
}

Answer SentenceTask::answer(Module& model, const std::string& prompt,
                            const AnswerOptions& options) const {
  check_prompt(prompt);
  const EvaluationMode evaluating(model);
  std::vector<int32_t> ids = tokenizer_.encode(prompt);
  ids.insert(ids.begin(), class_token_);
  Answer answer{.text = {}, .shown = Ids::from({1, static_cast<int64_t>(ids.size())}, ids)};
  const Array logits = model(answer.shown).value();  // (1, classes)
  const auto chosen = static_cast<size_t>(likeliest(logits.span()));
  double sum = 0;
  for (const real logit : logits.span()) {
    sum += std::exp(static_cast<double>(logit - logits.data()[chosen]));
  }
  char percent[16];
  std::snprintf(percent, sizeof percent, " %.1f%%", 100 / sum);
  answer.text = classes_[chosen] + percent;
  options.say(answer.text);
  return answer;
}

std::string SentenceTask::described() const {
  return text("sentences with ", tokenizer_.vocab_size() - 1, " words, made as they are needed; ",
              grouped(example_count(Split::validation)), " with other combinations held out");
}

}  // namespace heed
