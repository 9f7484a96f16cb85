// The models of every task answer prompts.
#include "tests/support/answer_cases.h"
#include "train/evaluate.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("answers: sorted symbols, as many as the prompt has, and the evaluation agrees") {
  const Stepping sorted = trained(
      "data: {type: sort, length: 5, min_length: 2, symbols: 9}\n"
      "model: {type: gpt, d_model: 8, num_heads: 1, num_layers: 1, attention: {type: "
      "multi_head_attention, causal: false}}\n" +
      adamw + "train: {steps: 1, batch_size: 4}\n");
  const std::string symbols = ask(sorted, "3 1 2").text;
  CHECK(std::count(symbols.begin(), symbols.end(), ' ') >= 1);
}
