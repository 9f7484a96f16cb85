// Classification of generated sentences: the base of negation and word_sense. Batches are those of
// train/wings/classes/label_format.h, padded to the longest sentence that there can be.
//
// A grammar turns a list of choices into a sentence. The held-out set is defined by combinations of
// two choices that determine the class (`not` with `shabby`), not by single sentences. A model has
// to learn what each part does, instead of memorising which parts occur together.
#pragma once

#include "train/tasks/made_task.h"
#include "train/tasks/word_tokenizer.h"
#include "train/wings/classes/label_format.h"

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
    int64_t longest = 0;  // longest sentence, in words
  };

  explicit SentenceTask(const Vocabulary& vocabulary);

  virtual Sentence sentence(const Question& choices) const = 0;

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override;
  const Tokenizer* tokenizer() const override { return &tokenizer_; }
  std::string target_name(int32_t label) const override {
    return classes_.at(static_cast<size_t>(label));
  }
  void check_prompt(const std::string& prompt) const override;
  // The most likely class and its probability: "positive 99.8%".
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override;
  bool is_held_out(const Question& choices) const override = 0;

 protected:
  Batch batch(std::span<const Question> questions) const override;
  std::string described() const;

 private:
  const WordTokenizer tokenizer_;
  const std::vector<std::string> classes_;
  const int64_t longest_;
  const LabelFormat format_;
};

}  // namespace heed
