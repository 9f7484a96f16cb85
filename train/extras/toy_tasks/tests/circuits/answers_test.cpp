// As ../made/answers_test.cpp, for a task that a few heads solve.
#include "tests/support/answer_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("answers: a sum as a number") {
  const Stepping sums = trained(
      "data: {type: modular_addition, modulus: 7}\n"
      "model: {type: gpt, d_model: 8, num_heads: 1, num_layers: 1}\n" +
      adamw + "train: {steps: 1, batch_size: 4}\n");
  CHECK(!ask(sums, "3 + 6 =").text.empty());
}
