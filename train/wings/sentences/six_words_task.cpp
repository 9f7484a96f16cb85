#include "train/wings/sentences/six_words_task.h"

#include "autograd/base/modes.h"
#include "layers/module/evaluation_mode.h"
#include "train/data/generate.h"
#include "train/wings/classes/prompt_length.h"

namespace heed {

namespace {
constexpr int32_t sentence_words = 6, end_of_sentence = sentence_words;
}

SixWordsTask::SixWordsTask(const Config&, const TaskSetup&)
    : tokenizer_({"Your", "journey", "starts", "with", "one", "step", "<end>"}, /*marks=*/1) {}

Batch SixWordsTask::sentences(int64_t count) const {
  Batch batch{Input(Ids::zeros({count, sentence_words})), Ids::zeros({count, sentence_words})};
  for (int64_t i = 0; i < count * sentence_words && !dry_run(); ++i) {
    batch.input.ids.mutable_data()[i] = static_cast<int32_t>(i % sentence_words);
    batch.targets.mutable_data()[i] = static_cast<int32_t>(i % sentence_words) + 1;
  }
  return batch;
}

Batch SixWordsTask::examples(Split split, const std::vector<int64_t>& which) const {
  require_examples(which, example_count(split));
  return sentences(static_cast<int64_t>(which.size()));
}

void SixWordsTask::check_prompt(const std::string& prompt) const {
  require_length(tokenizer_.encode(prompt).size(), sentence_words, "word");
}

Answer SixWordsTask::answer(Module& model, const std::string& prompt,
                            const AnswerOptions& options) const {
  check_prompt(prompt);
  const EvaluationMode evaluating(model);
  std::vector<int32_t> ids = tokenizer_.encode(prompt);
  Answer answer;
  while (ids.size() <= sentence_words) {
    answer.shown = Ids::from({1, static_cast<int64_t>(ids.size())}, ids);
    const int32_t next = likeliest(model(answer.shown).value());
    if (next == end_of_sentence) {
      break;
    }
    ids.push_back(next);
    answer.text += text(" ", tokenizer_.name(next));
  }
  options.say(answer.text);
  return answer;
}

std::string SixWordsTask::description() const {
  return "six_words: \"Your journey starts with one step\"; nothing is held out";
}

}  // namespace heed
