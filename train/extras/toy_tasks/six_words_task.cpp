#include "train/extras/toy_tasks/six_words_task.h"

#include "autograd/base/modes.h"
#include "layers/module/evaluation_mode.h"
#include "train/data/generate.h"
#include "train/data/prompt_length.h"

namespace heed {

namespace {

constexpr int32_t sentence_words = 6, end_of_sentence = sentence_words;

// ids (B, 6); targets (B, 6), the next word at each position, the last of them <end>.
Batch sentences(int64_t count) {
  Batch batch{Input(Ids::zeros({count, sentence_words})), Ids::zeros({count, sentence_words})};
  for (int64_t i = 0; i < count * sentence_words && !dry_run(); ++i) {
    batch.input.ids.mutable_data()[i] = static_cast<int32_t>(i % sentence_words);
    batch.targets.mutable_data()[i] = static_cast<int32_t>(i % sentence_words) + 1;
  }
  return batch;
}

// The sentence, as often as it is asked for.
class Sentences final : public Dataset {
 public:
  Batch next(int64_t batch_size, Generator&) override { return sentences(batch_size); }
  int64_t example_count(Split) const override { return 1; }
  Batch examples(Split split, const std::vector<int64_t>& which) const override {
    require_examples(which, example_count(split));
    return sentences(std::ssize(which));
  }
  int64_t training_tokens() const override { return sentence_words; }
};

}  // namespace

SixWordsTask::SixWordsTask(const Config&, const TaskSetup&)
    : tokenizer_({"Your", "journey", "starts", "with", "one", "step", "<end>"}, /*marks=*/1) {
  data_ = std::make_unique<Sentences>();
}

std::vector<int32_t> SixWordsTask::question_of(const std::string& prompt) const {
  std::vector<int32_t> words = tokenizer_.encode(prompt);
  require_length(words.size(), sentence_words, "word");
  return words;
}

Answer SixWordsTask::answer(Module& model, const std::string& prompt,
                            const AnswerOptions& options) const {
  std::vector<int32_t> ids = question_of(prompt);
  const EvaluationMode evaluating(model);
  Answer answer;
  for (int64_t written = 0; ids.size() <= sentence_words; ++written) {
    answer.shown = Ids::from({1, static_cast<int64_t>(ids.size())}, ids);
    if (written == options.tokens) break;
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
