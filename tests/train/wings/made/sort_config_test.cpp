// What the task sort adds to a config: the sizes of its model, prompts of its own; and a run of it
// that is resumed.
#include "tests/support/near.h"
#include "tests/support/resume_cases.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::string model = "model={type: gpt, d_model: 8, num_heads: 2, num_layers: 1}";

std::string mistake(const std::vector<std::string>& sets) {
  const TempDir folder;
  try {
    load_small(folder, sets);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("sort: the data decides vocab_size and context_length") {
  const TempDir folder;
  const LoadedRun run = load_small(folder, {"data={type: sort, length: 5, symbols: 7}", model});
  CHECK(*run.config.model.find<int64_t>("vocab_size") == 7);
  CHECK(*run.config.model.find<int64_t>("context_length") == 5);
  const std::string wrong =
      "--set data={type: sort, length: 0}:1:27: data.length: expected a whole number from 1 to "
      "1024, got 0";
  CHECK(mistake({"data={type: sort, length: 0}", model}) == wrong);
  // Nothing is said about a size that the data would have decided, the context_length here.
  CHECK(mistake({"data={type: sort, length: 0}", model,
                 "model.attention={type: multi_head_attention, window: 4}"}) == wrong);
}

TEST_CASE("sort: a prompt for samples has as many symbols as the task") {
  CHECK(mistake({"data={type: sort}", "sample.every=5", model}) ==
        "--set sample.every=5:1:1: sample.prompt: expected 8 symbols, numbers from 0 to 31 with "
        "blanks between them, got 0; another one: --set sample.prompt=TEXT");
}

TEST_CASE("sort: a resumed run is the whole one") {
  check_resume(
      together({{"data={type: sort, length: 8, symbols: 5}"}, {optimizers[1], schedules[0]}}));
}
