// Classification of generated sentences, as negation and word_sense. Batches are those of
// train/wings/classes/label_format.h, padded to the longest sentence that there can be.
//
// A task is a grammar, a struct with the fields of its config that turns a list of choices into a
// sentence. The held-out set is defined by combinations of two choices that determine the class
// (`not` with `shabby`), not by single sentences: a model has to learn what each part does, instead
// of memorising which parts occur together.
//   static constexpr const char* name, *help;
//   SentenceWords vocabulary() const;
//   MadeTask::Question draw(Generator& generator) const;      the choices
//   bool is_held_out(const MadeTask::Question& choices) const;
//   Sentence sentence(const MadeTask::Question& choices) const;
#pragma once

#include "autograd/base/modes.h"
#include "train/wings/classes/label_format.h"
#include "train/wings/made/made_task.h"
#include "train/wings/made/word_tokenizer.h"

namespace heed {

struct Sentence {
  std::vector<std::string> words;
  int32_t label = 0;
};

struct SentenceWords {
  std::vector<std::string> words;
  std::vector<std::string> classes;
  int64_t longest = 0;  // longest sentence, in words
};

// Sentences as batches, and the class that a model gives to one.
class SentenceText {
 public:
  explicit SentenceText(const SentenceWords& vocabulary);

  std::vector<std::pair<std::string, int64_t>> model_sizes() const;
  // For a plan, with the number of sentences that are held out.
  std::string description(int64_t held_out) const;
  const Tokenizer& tokenizer() const { return tokenizer_; }
  const std::string& name_of_class(int32_t label) const {
    return classes_.at(static_cast<size_t>(label));
  }
  void check_prompt(const std::string& prompt) const;
  // The most likely class and its probability: "positive 99.8%".
  Answer answer(Module& model, const std::string& prompt, const AnswerOptions& options) const;

  Batch blank(int64_t count) const { return format_.blank(count, longest_); }
  void fill(Batch& batch, int64_t i, const Sentence& made) const;

 private:
  const WordTokenizer tokenizer_;
  const std::vector<std::string> classes_;
  const int64_t longest_;
  const LabelFormat format_;
};

template <class Grammar>
class SentenceTask final : public MadeTask {
 public:
  static constexpr const char* help = Grammar::help;
  using Config = Grammar;

  SentenceTask(const Grammar& grammar, const TaskSetup& setup)
      : config(grammar), text_(grammar.vocabulary()) {
    hold_out_by_rule(setup.seed, most_held_out);
  }

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override {
    return text_.model_sizes();
  }
  std::string description() const override {
    return text(Grammar::name, ": ", text_.description(example_count(Split::validation)));
  }
  const Tokenizer* tokenizer() const override { return &text_.tokenizer(); }
  std::string target_name(int32_t label) const override { return text_.name_of_class(label); }
  void check_prompt(const std::string& prompt) const override { text_.check_prompt(prompt); }
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override {
    return text_.answer(model, prompt, options);
  }
  bool is_held_out(const Question& choices) const override { return config.is_held_out(choices); }

  const Grammar config;

 protected:
  Question draw(Generator& generator) const override { return config.draw(generator); }
  Batch batch(std::span<const Question> questions) const override {
    Batch batch = text_.blank(std::ssize(questions));
    for (int64_t i = 0; i < std::ssize(questions) && !dry_run(); ++i) {
      text_.fill(batch, i, config.sentence(questions[static_cast<size_t>(i)]));
    }
    return batch;
  }

 private:
  const SentenceText text_;
};

}  // namespace heed
