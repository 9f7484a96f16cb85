// The header to include, with train/task.h, for tasks that generate their examples from the seed,
// without end, and hold some of them out.
//
// A task says what a question is (draw), and the input and targets for it (batch). From these
// follow training batches, which never contain held-out questions, the held-out set, and a sample
// of the training questions. All randomness of training comes from the data stream, so its state is
// all that a resumed run needs.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "train/data/task.h"
#include "train/extras/toy_tasks/word_tokenizer.h"

namespace heed {

// How many examples are held out if the task has enough of them.
inline constexpr int64_t most_held_out = 2000;

// A tenth of this many questions, but at least 1 and at most most_held_out.
int64_t tenth_of(double questions);

// A uniform random number in [0, n).
int32_t draw_below(Generator& generator, size_t n);

// Identifies an example: the symbols of a sequence, or the choices that make up a sentence.
using Question = std::vector<int32_t>;

// `length` random symbols in [0, symbols).
Question draw_symbols(Generator& generator, int64_t length, int64_t symbols);

// A batch of ids and targets (B, length) with a row for each question. A row begins as ids 0 and
// targets ignored_target, and `write` fills it; in a dry run it stays so.
using WriteRow = std::function<void(const Question& question, std::span<int32_t> ids,
                                    std::span<int32_t> targets)>;
Batch batch_of_rows(std::span<const Question> questions, int64_t length, const WriteRow& write);

// `count` distinct random questions, and those in `always`. `most`, if given, limits how
// many of a length are held out; `count` must not exceed the sum over all lengths.
struct HeldOut {
  using MostOfLength = std::function<int64_t(size_t)>;
  HeldOut(int64_t so_many, std::vector<Question> too = {}, MostOfLength limit = {})
      : count(so_many), always(std::move(too)), most(std::move(limit)) {}
  int64_t count;
  std::vector<Question> always;
  MostOfLength most;
};

class MadeExamples final : public Dataset {
 public:
  using IsHeldOut = std::function<bool(const Question&)>;
  // What makes the examples: an object with two functions, mostly the task that has them. It
  // outlives them and stays where it is.
  struct Maker {
    template <class M>
    Maker(const M& maker)  // NOLINT: a task passes itself
        : draw([&maker](Generator& generator) { return maker.draw(generator); }),
          batch([&maker](std::span<const Question> questions) { return maker.batch(questions); }) {}
    // Any question at random, held out or not.
    std::function<Question(Generator&)> draw;
    // Inputs and targets for the questions. The shape may only depend on their number. In a dry run
    // the questions are empty and the values do not matter.
    std::function<Batch(std::span<const Question>)> batch;
  };

  // Each constructor draws, with the seed, what is held out, and a sample of training questions:
  // what the maker's draw() reads has to be there before.
  MadeExamples(Maker maker, uint64_t seed, const HeldOut& which);
  // Holds out by a rule, as "no sentence with `not` next to `shabby`": a question for which it is
  // true never occurs in training, and `count` of them are the held-out set.
  MadeExamples(Maker maker, uint64_t seed, IsHeldOut is_held_out, int64_t count);
  // Holds out these. `others` is how many other questions there are, the training_tokens(); at most
  // most_held_out of them are the sample.
  MadeExamples(Maker maker, uint64_t seed, std::vector<Question> these, int64_t others);

  Batch next(int64_t batch_size, Generator& data) override;
  int64_t example_count(Split split) const override;
  Batch examples(Split split, const std::vector<int64_t>& which) const override;
  int64_t training_tokens() const override { return trained_on_; }

  // Sorted lexicographically.
  const std::vector<Question>& questions(Split split) const {
    return split == Split::train ? sample_ : held_out_;
  }
  // Whether a question must never occur in training.
  bool is_held_out(const Question& question) const;

 private:
  Question draw_for_training(Generator& generator) const;
  // Draws `count` distinct questions for which is_held_out() equals `held_out`, at most
  // most(length) of each length.
  std::vector<Question> different(int64_t count, Generator& generator, bool held_out,
                                  const HeldOut::MostOfLength& most = {}) const;

  const Maker maker_;
  const IsHeldOut rule_;  // or none: those in held_out_
  std::vector<Question> held_out_, sample_;
  const int64_t trained_on_ = 0;  // 0: without end
};

// For description(): "what, made as they are needed; 2,000 held out".
std::string made_as_needed(const std::string& what, const Dataset& examples);

}  // namespace heed
