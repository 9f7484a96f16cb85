// Sentences of a small grammar and a class for each, for a classifier: what negation and word_sense
// share.
//   ids (B, T)      <class> and the words, then padding, which the mask hides
//   targets (B)     the class
//
// A grammar makes a sentence of a row of choices. Held out are not sentences but combinations of
// two choices that decide the class (`not` with `shabby`), by a rule of the task: a model has to
// know what either part does, not what it has seen together.
#pragma once

#include "train/tasks/made_task.h"
#include "train/tasks/word_tokenizer.h"

namespace heed {

class SentenceTask : public MadeTask {
 public:
  struct Sentence {
    std::vector<std::string> words;
    int32_t label = 0;
  };
  struct Vocabulary {
    std::vector<std::string> words;
    std::vector<std::string> classes;
    int64_t longest = 0;  // words of a sentence
  };

  explicit SentenceTask(const Vocabulary& vocabulary);

  virtual Sentence sentence(const Question& choices) const = 0;

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override;
  int64_t output_size() const override { return static_cast<int64_t>(classes_.size()); }
  const Tokenizer* tokenizer() const override { return &tokenizer_; }
  void check_prompt(const std::string& prompt) const override;
  // "positive 99.8%": the likeliest class and its probability.
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override;
  bool is_held_out(const Question& choices) const override = 0;

 protected:
  Batch batch(std::span<const Question> questions) const override;
  std::string described() const;

 private:
  const WordTokenizer tokenizer_;
  const std::vector<std::string> classes_;
  const int64_t places_;
  const int32_t class_token_;
};

}  // namespace heed
