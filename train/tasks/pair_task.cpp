#include "train/tasks/pair_task.h"

#include <algorithm>

#include "autograd/base/modes.h"
#include "layers/module/evaluation_mode.h"
#include "train/data/generate.h"

namespace heed {

namespace {

WordTokenizer with_marks(std::vector<std::string> words, const std::vector<std::string>& marks) {
  words.insert(words.end(), marks.begin(), marks.end());
  return {std::move(words), static_cast<int64_t>(marks.size())};
}

}  // namespace

PairTask::PairTask(std::vector<std::string> source_words, std::vector<std::string> target_words,
                   const Sizes& longest)
    : source_tokenizer_(with_marks(std::move(source_words), {"<end>"})),
      target_tokenizer_(with_marks(std::move(target_words), {"<start>", "<end>"})),
      longest_(longest),
      source_end_(source_tokenizer_.id("<end>")),
      start_(target_tokenizer_.id("<start>")),
      end_(target_tokenizer_.id("<end>")) {}

std::vector<std::pair<std::string, int64_t>> PairTask::model_sizes() const {
  return {{"source_vocab_size", source_tokenizer_.vocab_size()},
          {"vocab_size", target_tokenizer_.vocab_size()},
          {"source_length", longest_.source + 1},
          {"context_length", longest_.target + 1}};
}

Batch PairTask::batch(std::span<const Question> questions) const {
  const auto count = static_cast<int64_t>(questions.size());
  const int64_t from = longest_.source + 1, to = longest_.target + 1;
  Batch batch{Input(Ids::full({count, to}, end_)), Ids::full({count, to}, ignored_target)};
  batch.input.source_ids = Ids::full({count, from}, source_end_);
  batch.input.source_mask = Mask::zeros({count, from});
  for (int64_t i = 0; i < count && !dry_run(); ++i) {
    const Pair made = pair(questions[static_cast<size_t>(i)]);
    std::copy(made.source.begin(), made.source.end(),
              batch.input.source_ids.mutable_data() + i * from);
    std::fill_n(batch.input.source_mask.mutable_data() + i * from, made.source.size() + 1,
                uint8_t{1});
    int32_t* ids = batch.input.ids.mutable_data() + i * to;
    *ids = start_;
    std::copy(made.target.begin(), made.target.end(), ids + 1);
    int32_t* targets = batch.targets.mutable_data() + i * to;
    *std::copy(made.target.begin(), made.target.end(), targets) = end_;
  }
  return batch;
}

void PairTask::check_prompt(const std::string& prompt) const {
  const size_t words = source_tokenizer_.encode(prompt).size();
  require<ConfigError>(words >= 1 && words <= static_cast<size_t>(longest_.source),
                       "expected 1 to ", longest_.source, " words, got ", words);
}

std::string PairTask::text_of(std::span<const int32_t> target) const {
  return target_tokenizer_.decode(target);
}

Answer PairTask::answer(Module& model, const std::string& prompt,
                        const AnswerOptions& options) const {
  check_prompt(prompt);
  const EvaluationMode evaluating(model);
  std::vector<int32_t> source = source_tokenizer_.encode(prompt), written{start_};
  source.push_back(source_end_);
  Input in;
  in.source_ids = Ids::from({1, static_cast<int64_t>(source.size())}, source);
  const auto room = static_cast<size_t>(longest_.target) + 1;
  const auto stopped = [&] { return options.stop && options.stop(); };
  for (bool ended = false; !ended && written.size() <= room && !stopped();) {
    in.ids = Ids::from({1, static_cast<int64_t>(written.size())}, written);
    const Array logits = model(in).value();  // (1, T, V)
    written.push_back(likeliest(logits.span().last(static_cast<size_t>(logits.dim(-1)))));
    ended = written.back() == end_;
  }
  const bool ended = written.back() == end_;
  const std::span<const int32_t> target(written.begin() + 1, written.end() - (ended ? 1 : 0));
  const Answer answer{text_of(target), std::move(in)};
  options.say(answer.text);
  return answer;
}

}  // namespace heed
