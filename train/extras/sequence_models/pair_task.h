// Sequence-to-sequence tasks for an encoder_decoder: copy, reverse, translation. Batches are those
// of pair_format.h, padded to the longest possible sequence.
//
// A task is a struct with the fields of its config that makes pairs of sequences:
//   static constexpr const char* help;
//   std::vector<std::string> source_words() const, target_words() const;
//   PairSizes longest() const;
//   HeldOut held_out() const;
//   Question draw(Generator& generator) const;
//   SequencePair pair(const Question& question, const PairWords& words) const;
//   void check_length(size_t words) const;              of a prompt; throws ConfigError
//   std::string as_text(std::string words) const;       what a model has written
//   std::string description() const;
#pragma once

#include "autograd/base/modes.h"
#include "train/data/pair_format.h"
#include "train/extras/toy_tasks/made_examples.h"
#include "train/extras/toy_tasks/word_tokenizer.h"

namespace heed {

struct SequencePair {
  std::vector<int32_t> source;
  std::vector<int32_t> target;
};

// The tokens <end> (source) and <start>, <end> (target) are appended to the words of a task.
struct PairWords {
  WordTokenizer source, target;
};

template <class Pairs>
class PairTask final : public Task {
 public:
  static constexpr const char* help = Pairs::help;
  using Config = Pairs;

  PairTask(const Pairs& pairs, const TaskSetup& setup)
      : config(pairs),
        words_{with_marks(pairs.source_words(), {"<end>"}),
               with_marks(pairs.target_words(), {"<start>", "<end>"})},
        format_({words_.source.id("<end>"), words_.target.id("<start>"), words_.target.id("<end>")},
                pairs.longest()) {
    data_ = std::make_unique<MadeExamples>(*this, setup.seed, pairs.held_out());
  }

  SequencePair pair(const Question& question) const { return config.pair(question, words_); }

  ModelSizes model_sizes() const override {
    return {{"source_vocab_size", words_.source.vocab_size()},
            {"vocab_size", words_.target.vocab_size()},
            {"source_length", format_.longest().source + 1},
            {"context_length", format_.longest().target + 1}};
  }
  std::string description() const override { return made_as_needed(config.description(), data()); }
  const WordTokenizer* tokenizer() const override { return &words_.target; }
  const WordTokenizer* source_tokenizer() const override { return &words_.source; }
  bool continues_prompt() const override { return false; }

  Question draw(Generator& generator) const { return config.draw(generator); }
  Batch batch(std::span<const Question> questions) const {
    Batch batch = format_.blank(std::ssize(questions), format_.longest());
    for (int64_t i = 0; i < std::ssize(questions) && !dry_run(); ++i) {
      const SequencePair made = pair(questions[static_cast<size_t>(i)]);
      format_.fill(batch, i, made.source, made.target);
    }
    return batch;
  }

  const Pairs config;

 protected:
  std::vector<int32_t> question_of(const std::string& prompt) const override {
    std::vector<int32_t> source = words_.source.encode(prompt);
    config.check_length(source.size());
    return source;
  }
  // Greedy decoding until <end>. `shown` contains everything that was written.
  Answer reply(Module& model, const std::vector<int32_t>& source,
               const AnswerOptions& options) const override {
    PairFormat::Decoded written = format_.write(model, source, options.stop);
    return {config.as_text(words_.target.decode(written.target)), std::move(written.shown)};
  }

 private:
  const PairWords words_;
  const PairFormat format_;
};

}  // namespace heed
