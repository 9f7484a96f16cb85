// The header to include, with train/task.h, for tasks that generate their examples from the seed,
// without end, and hold some of them out.
//
// A derived class defines what a question is (draw), and the input and targets for it (batch). From
// these follow training batches, which never contain held-out questions, the held-out set, and a
// sample of the training questions. All randomness of training comes from the data stream, so its
// state is all that a resumed run needs.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "train/data/task.h"
#include "train/wings/made/word_tokenizer.h"

namespace heed {

// How many examples are held out if the task has enough of them.
inline constexpr int64_t most_held_out = 2000;

// A tenth of this many questions, but at least 1 and at most most_held_out.
int64_t tenth_of(double questions);

// A uniform random number in [0, n).
int32_t draw_below(Generator& generator, size_t n);

class MadeTask : public Task {
 public:
  // Identifies an example: the symbols of a sequence, or the choices that make up a sentence.
  using Question = std::vector<int32_t>;
  using MostOfLength = std::function<int64_t(size_t)>;
  // Distinct random questions, so many of them, and those in `always`. `most`, if given, limits how
  // many of a length are held out; `count` must not exceed the sum over all lengths.
  struct HeldOut {
    HeldOut(int64_t so_many, std::vector<Question> too = {}, MostOfLength limit = {})
        : count(so_many), always(std::move(too)), most(std::move(limit)) {}
    int64_t count;
    std::vector<Question> always;
    MostOfLength most;
  };

  Batch next(int64_t batch_size, Generator& data) final;
  int64_t example_count(Split split) const final;
  Batch examples(Split split, const std::vector<int64_t>& which) const final;
  bool continues_prompt() const override { return false; }
  // Text, of a task with a tokenizer: question_of() the prompt, then reply(); or a continuation.
  void check_prompt(const std::string& prompt) const override { question_of(prompt); }
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override;

  // Sorted lexicographically.
  const std::vector<Question>& questions(Split split) const {
    return split == Split::train ? sample_ : held_out_;
  }
  // True if a question must never occur in training. Default: it is in the held-out set. Override
  // it to hold out by a rule ("no sentence with `not` next to `shabby`").
  virtual bool is_held_out(const Question& question) const;

 protected:
  // Draws any question at random, held out or not.
  virtual Question draw(Generator& generator) const = 0;
  // Inputs and targets for the questions. The shape may only depend on their number. In a dry run
  // the questions are empty and the values do not matter.
  virtual Batch batch(std::span<const Question> questions) const = 0;
  // What a prompt asks, for reply(): its tokens, unless overridden. Throws ConfigError for one that
  // the model cannot be asked.
  virtual std::vector<int32_t> question_of(const std::string& prompt) const;
  // What the model, in evaluation mode, makes of it. Default: the likeliest token at its end.
  virtual Answer reply(Module& model, const std::vector<int32_t>& asked,
                       const AnswerOptions& options) const;
  // For description(): "what, made as they are needed; 2,000 held out".
  std::string described(const std::string& what) const;

  // Exactly one of these must be called at the end of the constructor. Each also draws the sample
  // of training questions, from a separate generator with this seed.
  void hold_out_some(uint64_t seed, const HeldOut& which);
  //   Holds out `count` distinct questions for which the overridden is_held_out() is true:
  void hold_out_by_rule(uint64_t seed, int64_t count);
  //   Holds out exactly these; the training sample has `sampled` questions:
  void hold_out_these(uint64_t seed, std::vector<Question> questions, int64_t sampled);

 private:
  Question draw_for_training(Generator& generator) const;
  // Draws `count` distinct questions for which is_held_out() equals `held_out`, at most
  // most(length) of each length.
  std::vector<Question> different(int64_t count, Generator& generator, bool held_out,
                                  const MostOfLength& most = {}) const;

  std::vector<Question> held_out_, sample_;
};

}  // namespace heed
