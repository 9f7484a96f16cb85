// Base of the sequence-to-sequence tasks for an encoder_decoder: copy, reverse, translation.
// Batches are those of pair_format.h, padded to the longest possible sequence.
#pragma once

#include "train/tasks/made_task.h"
#include "train/tasks/word_tokenizer.h"
#include "train/wings/translation/pair_format.h"

namespace heed {

class PairTask : public MadeTask {
 public:
  struct Pair {
    std::vector<int32_t> source;
    std::vector<int32_t> target;
  };

  // The words of either side. The tokens <end> (source) and <start>, <end> (target) are appended.
  PairTask(std::vector<std::string> source_words, std::vector<std::string> target_words,
           const PairSizes& longest);

  virtual Pair pair(const Question& question) const = 0;

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override;
  const WordTokenizer* tokenizer() const override { return &target_tokenizer_; }
  const WordTokenizer* source_tokenizer() const override { return &source_tokenizer_; }
  void check_prompt(const std::string& prompt) const override;
  // Greedy decoding until <end>. `shown` contains everything that was written.
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override;

 protected:
  Batch batch(std::span<const Question> questions) const override;
  // The written tokens as text.
  virtual std::string text_of(std::span<const int32_t> target) const;

 private:
  const WordTokenizer source_tokenizer_, target_tokenizer_;
  const PairFormat format_;
};

}  // namespace heed
