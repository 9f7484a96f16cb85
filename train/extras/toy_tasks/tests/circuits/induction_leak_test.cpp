// A task whose first target is far into the row, under the search for a leak.
#include <doctest/doctest.h>

#include "autograd/random/streams.h"
#include "tests/support/training_run.h"
#include "tools/extras/checks/train/leak.h"

using namespace heed;
using namespace heed::testing;

namespace {

bool sees_ahead(const LoadedRun& run) {
  manual_seed(1);
  const auto model = make_layer(run.config.model);
  return sees_next_tokens(*model, run.task->data());
}

}  // namespace

TEST_CASE("leak: a first target far into the row is enough") {
  const TempDir folder;
  const auto model = [&](const std::string& causal) {
    return sees_ahead(load_small(
        folder, {"data={type: induction, length: 48, min_period: 20, symbols: 32}",
                 "model={type: gpt, d_model: 8, num_heads: 2, num_layers: 1, attention: {causal: " +
                     causal + "}}"}));
  };
  CHECK(model("false"));
  CHECK_FALSE(model("true"));
}

TEST_CASE("leak: a sum that is asked for at the end has nothing to hide") {
  const TempDir folder;
  CHECK_FALSE(
      sees_ahead(load_small(folder, {"data={type: modular_addition, modulus: 7}",
                                     "model={type: gpt, d_model: 8, num_heads: 2, num_layers: 1, "
                                     "attention: {causal: false}}"})));
}
