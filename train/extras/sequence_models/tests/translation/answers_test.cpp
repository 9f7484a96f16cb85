// What a model of two sequences answers, and what the evaluation counts as right.
#include "autograd/random/streams.h"
#include "tests/support/answer_cases.h"
#include "train/data/generate.h"
#include "train/evaluate.h"
#include "train/extras/sequence_models/symbol_pairs.h"
#include "train/extras/toy_tasks/tests/made/made_task_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("answers: a sequence counts as right if and only if greedy decoding writes it") {
  const Stepping run = trained(
      "data: {type: reverse, length: 4, min_length: 2, symbols: 6}\n"
      "model: {type: encoder_decoder, d_model: 16, num_heads: 2, num_layers: 1}\n" +
      adamw + "train: {steps: 60, batch_size: 16}\n");
  const auto& task = dynamic_cast<const ReverseTask&>(*run.loaded.task);
  const Evaluation evaluation = evaluate(*run.model, task, Split::validation, 16, {});
  int64_t right = 0;
  for (const Question& question : questions_of(task, Split::validation)) {
    const SequencePair pair = task.pair(question);
    const Answer answer = ask(run, task.source_tokenizer()->decode(pair.source));
    right += answer.text == task.tokenizer()->decode(pair.target) ? 1 : 0;
  }
  const auto all = static_cast<double>(task.data().example_count(Split::validation));
  CHECK(evaluation.exact_match == static_cast<double>(right) / all);
  CHECK(right > 0);    // it has learned something,
  CHECK(right < all);  // but not all of it
}
