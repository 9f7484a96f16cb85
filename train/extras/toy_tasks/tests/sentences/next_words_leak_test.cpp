// Whether the training of a sentence's words would see the next one.
#include <doctest/doctest.h>

#include "autograd/random/streams.h"
#include "tests/support/training_run.h"
#include "tools/extras/checks/train/leak.h"

using namespace heed;
using namespace heed::testing;

namespace {

bool sees_next_words(const std::string& data, const std::string& model) {
  const TempDir folder;
  const LoadedRun run = load_small(folder, {"data=" + data, "model=" + model});
  manual_seed(1);
  return sees_next_tokens(*make_layer(run.config.model), run.task->data());
}

}  // namespace

TEST_CASE("leak: the next word is what six_words asks for, a class is not") {
  CHECK(sees_next_words("{type: six_words}",
                        "{type: gpt, d_model: 8, num_heads: 2, num_layers: 1, "
                        "attention: {causal: false}}"));
  CHECK_FALSE(sees_next_words("{type: negation}",
                              "{type: classifier, d_model: 8, num_heads: 2, num_layers: 1}"));
}
