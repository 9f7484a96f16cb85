#include "train/wings/translation/pair_task.h"

#include "autograd/base/modes.h"
#include "train/wings/classes/prompt_length.h"

namespace heed {

PairTask::PairTask(std::vector<std::string> source_words, std::vector<std::string> target_words,
                   const PairSizes& longest)
    : source_tokenizer_(with_marks(std::move(source_words), {"<end>"})),
      target_tokenizer_(with_marks(std::move(target_words), {"<start>", "<end>"})),
      format_({source_tokenizer_.id("<end>"), target_tokenizer_.id("<start>"),
               target_tokenizer_.id("<end>")},
              longest) {}

std::vector<std::pair<std::string, int64_t>> PairTask::model_sizes() const {
  return {{"source_vocab_size", source_tokenizer_.vocab_size()},
          {"vocab_size", target_tokenizer_.vocab_size()},
          {"source_length", format_.longest().source + 1},
          {"context_length", format_.longest().target + 1}};
}

Batch PairTask::batch(std::span<const Question> questions) const {
  const auto count = static_cast<int64_t>(questions.size());
  Batch batch = format_.blank(count, format_.longest());
  for (int64_t i = 0; i < count && !dry_run(); ++i) {
    const Pair made = pair(questions[static_cast<size_t>(i)]);
    format_.fill(batch, i, made.source, made.target);
  }
  return batch;
}

void PairTask::check_prompt(const std::string& prompt) const {
  require_length(source_tokenizer_.encode(prompt).size(), format_.longest().source, "word");
}

std::string PairTask::text_of(std::span<const int32_t> target) const {
  return target_tokenizer_.decode(target);
}

Answer PairTask::answer(Module& model, const std::string& prompt,
                        const AnswerOptions& options) const {
  check_prompt(prompt);
  PairFormat::Decoded written =
      format_.write(model, source_tokenizer_.encode(prompt), options.stop);
  Answer answer{text_of(written.target), std::move(written.shown)};
  options.say(answer.text);
  return answer;
}

}  // namespace heed
