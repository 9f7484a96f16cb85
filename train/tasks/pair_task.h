// Tasks with a sequence to read and another one to write, for an encoder_decoder: what copy,
// reverse and the translations share.
//
//   source_ids (B, S)  the source and <end>, then padding, which source_mask hides
//   ids (B, T)         <start> and the target: at each place the right token so far is given
//   targets (B, T)     the target and <end>; ignored behind it
#pragma once

#include "train/tasks/made_task.h"
#include "train/tasks/word_tokenizer.h"

namespace heed {

class PairTask : public MadeTask {
 public:
  struct Pair {
    std::vector<int32_t> source;
    std::vector<int32_t> target;
  };
  struct Sizes {
    int64_t source = 0;  // the longest source
    int64_t target = 0;  // the longest target
  };

  // The words of either side; the marks are put behind them.
  PairTask(std::vector<std::string> source_words, std::vector<std::string> target_words,
           const Sizes& longest);

  virtual Pair pair(const Question& question) const = 0;

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override;
  const WordTokenizer* tokenizer() const override { return &target_tokenizer_; }
  const WordTokenizer* source_tokenizer() const override { return &source_tokenizer_; }
  void check_prompt(const std::string& prompt) const override;
  // The likeliest token, again and again, until <end>. `shown` has all that was written.
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override;

 protected:
  Batch batch(std::span<const Question> questions) const override;
  // Written tokens as text.
  virtual std::string text_of(std::span<const int32_t> target) const;

 private:
  const WordTokenizer source_tokenizer_, target_tokenizer_;
  const Sizes longest_;
  const int32_t source_end_, start_, end_;
};

}  // namespace heed
