// Sequence-to-sequence tasks for an encoder_decoder: copy, reverse, translation. Batches are those
// of pair_format.h, padded to the longest possible sequence.
//
// A task is a struct with the fields of its config that makes pairs of sequences:
//   static constexpr const char* help;
//   std::vector<std::string> source_words() const, target_words() const;
//   PairSizes longest() const;
//   MadeTask::HeldOut held_out() const;
//   MadeTask::Question draw(Generator& generator) const;
//   SequencePair pair(const MadeTask::Question& question, const PairText& words) const;
//   void check_length(size_t words) const;              of a prompt; throws ConfigError
//   std::string as_text(std::string words) const;       what a model has written
//   std::string description() const;
#pragma once

#include "autograd/base/modes.h"
#include "train/wings/made/made_task.h"
#include "train/wings/made/word_tokenizer.h"
#include "train/wings/translation/pair_format.h"

namespace heed {

struct SequencePair {
  std::vector<int32_t> source;
  std::vector<int32_t> target;
};

// The words of either side, and what a model writes for a sequence of them.
class PairText {
 public:
  // The tokens <end> (source) and <start>, <end> (target) are appended.
  PairText(std::vector<std::string> source_words, std::vector<std::string> target_words,
           const PairSizes& longest);

  std::vector<std::pair<std::string, int64_t>> model_sizes() const;
  const WordTokenizer& source() const { return source_; }
  const WordTokenizer& target() const { return target_; }
  // Greedy decoding until <end>. `shown` contains everything that was written.
  Answer answer(Module& model, const std::string& prompt, const AnswerOptions& options) const;

  Batch blank(int64_t count) const { return format_.blank(count, format_.longest()); }
  void fill(Batch& batch, int64_t i, const SequencePair& pair) const {
    format_.fill(batch, i, pair.source, pair.target);
  }

 private:
  const WordTokenizer source_, target_;
  const PairFormat format_;
};

template <class Pairs>
class PairTask final : public MadeTask {
 public:
  static constexpr const char* help = Pairs::help;
  using Config = Pairs;

  PairTask(const Pairs& pairs, const TaskSetup& setup)
      : config(pairs), words_(pairs.source_words(), pairs.target_words(), pairs.longest()) {
    hold_out_some(setup.seed, pairs.held_out());
  }

  SequencePair pair(const Question& question) const { return config.pair(question, words_); }

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override {
    return words_.model_sizes();
  }
  std::string description() const override { return described(config.description()); }
  const WordTokenizer* tokenizer() const override { return &words_.target(); }
  const WordTokenizer* source_tokenizer() const override { return &words_.source(); }
  void check_prompt(const std::string& prompt) const override {
    config.check_length(words_.source().encode(prompt).size());
  }
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override {
    check_prompt(prompt);
    Answer answer = words_.answer(model, prompt, options);
    answer.text = config.as_text(std::move(answer.text));
    options.say(answer.text);
    return answer;
  }

  const Pairs config;

 protected:
  Question draw(Generator& generator) const override { return config.draw(generator); }
  Batch batch(std::span<const Question> questions) const override {
    Batch batch = words_.blank(std::ssize(questions));
    for (int64_t i = 0; i < std::ssize(questions) && !dry_run(); ++i) {
      words_.fill(batch, i, pair(questions[static_cast<size_t>(i)]));
    }
    return batch;
  }

 private:
  const PairText words_;
};

}  // namespace heed
