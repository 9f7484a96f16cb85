// Tasks whose examples are made, not read: drawn from the seed, without end, some held out.
//
// A task says what a question is (draw), and what a model is given for it and should say (batch).
// From that follow training batches, in which nothing held out ever comes up, the held-out set and
// a sample of what is trained on. All randomness of training comes from the stream of the data, so
// a run that goes on needs nothing but that stream's state.
#pragma once

#include <span>
#include <vector>

#include "train/data/task.h"

namespace heed {

// How many examples are held out where the task has that many to spare.
inline constexpr int64_t most_held_out = 2000;

// One of the numbers below n, for the choices of a grammar.
int32_t draw_below(Generator& generator, size_t n);

class MadeTask : public Task {
 public:
  // What tells an example from every other: the symbols of a sequence, the choices that made a
  // sentence.
  using Question = std::vector<int32_t>;

  Batch next(int64_t batch_size, Generator& data) final;
  int64_t example_count(Split split) const final;
  Batch examples(Split split, int64_t first, int64_t stride, int64_t count) const final;
  int64_t training_tokens() const override { return 0; }  // made as they are needed, without end
  bool continues_prompt() const override { return false; }

  // In lexicographic order.
  const std::vector<Question>& questions(Split split) const {
    return split == Split::train ? sample_ : held_out_;
  }
  // Whether a question must never come up in training. Unless said otherwise: it is in the held-out
  // set. A task that holds out by a rule ("no sentence with `not` beside `shabby`") says it here.
  virtual bool is_held_out(const Question& question) const;

 protected:
  // A question at random out of all there are, held out or not.
  virtual Question draw(Generator& generator) const = 0;
  // Inputs and targets of these questions, always of the same shape for as many of them. In a dry
  // run the questions are empty and the numbers do not matter.
  virtual Batch batch(std::span<const Question> questions) const = 0;

  // One of these is to be called at the end of the constructor. Each also draws the sample of what
  // is trained on, by a generator of its own, seeded.
  //   `count` different questions, drawn, and those in `always`:
  void hold_out_some(uint64_t seed, int64_t count, std::vector<Question> always = {});
  //   `count` different ones of those that the task's own is_held_out() names:
  void hold_out_by_rule(uint64_t seed, int64_t count);
  //   exactly these; the sample has `sampled`:
  void hold_out_these(uint64_t seed, std::vector<Question> questions, int64_t sampled);

 private:
  Question draw_for_training(Generator& generator) const;
  // `count` different ones for which is_held_out() is `held_out`.
  std::vector<Question> different(int64_t count, Generator& generator, bool held_out) const;

  std::vector<Question> held_out_, sample_;
};

}  // namespace heed
