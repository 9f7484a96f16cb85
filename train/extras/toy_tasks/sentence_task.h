// Classification of generated sentences, as negation and word_sense. Batches are those of
// train/data/label_format.h, padded to the longest sentence that there can be.
//
// A task is a grammar, a struct with the fields of its config that turns a list of choices into a
// sentence. The held-out set is defined by combinations of two choices that determine the class
// (`not` with `shabby`), not by single sentences: a model has to learn what each part does, instead
// of memorising which parts occur together.
//   static constexpr const char* name, *help;
//   SentenceWords vocabulary() const;
//   Question draw(Generator& generator) const;      the choices
//   bool is_held_out(const Question& choices) const;
//   Sentence sentence(const Question& choices) const;
#pragma once

#include "autograd/base/modes.h"
#include "train/data/label_format.h"
#include "train/data/prompt_length.h"
#include "train/extras/toy_tasks/made_examples.h"
#include "train/extras/toy_tasks/word_tokenizer.h"
#include "train/files/human_readable.h"

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

template <class Grammar>
class SentenceTask final : public Task {
 public:
  static constexpr const char* help = Grammar::help;
  using Config = Grammar;

  SentenceTask(const Grammar& grammar, const TaskSetup& setup)
      : config(grammar),
        known_(grammar.vocabulary()),
        tokenizer_(with_marks(known_.words, {"<class>"})),
        format_(tokenizer_.id("<class>")) {
    const auto is_held_out = [this](const Question& choices) {
      return config.is_held_out(choices);
    };
    data_ = std::make_unique<MadeExamples>(*this, setup.seed, is_held_out, most_held_out);
  }

  ModelSizes model_sizes() const override {
    return {{"vocab_size", tokenizer_.vocab_size()},
            {"num_classes", std::ssize(known_.classes)},
            {"context_length", known_.longest + 1}};
  }
  std::string description() const override {
    return text(Grammar::name, ": sentences with ", tokenizer_.vocab_size() - 1,
                " words, made as they are needed; ",
                grouped(data().example_count(Split::validation)),
                " with other combinations held out");
  }
  const Tokenizer* tokenizer() const override { return &tokenizer_; }
  std::string target_name(int32_t label) const override {
    return known_.classes.at(static_cast<size_t>(label));
  }
  bool continues_prompt() const override { return false; }

  Question draw(Generator& generator) const { return config.draw(generator); }
  Batch batch(std::span<const Question> questions) const {
    Batch batch = format_.blank(std::ssize(questions), known_.longest);
    for (int64_t i = 0; i < std::ssize(questions) && !dry_run(); ++i) {
      const Sentence made = config.sentence(questions[static_cast<size_t>(i)]);
      std::vector<int32_t> ids;
      for (const std::string& word : made.words) ids.push_back(tokenizer_.id(word));
      format_.fill(batch, i, ids, made.label);
    }
    return batch;
  }

  const Grammar config;

 protected:
  std::vector<int32_t> question_of(const std::string& prompt) const override {
    std::vector<int32_t> words = tokenizer_.encode(prompt);
    require_length(words.size(), known_.longest, "word");
    return words;
  }
  // The most likely class and its probability: "positive 99.8%".
  Answer reply(Module& model, const std::vector<int32_t>& words,
               const AnswerOptions&) const override {
    LabelFormat::Prediction chosen = format_.classify(model, words);
    return {chosen.text(target_name(chosen.label)), std::move(chosen.shown)};
  }

 private:
  const SentenceWords known_;
  const WordTokenizer tokenizer_;
  const LabelFormat format_;
};

}  // namespace heed
