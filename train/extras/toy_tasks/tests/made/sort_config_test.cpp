// What the task sort adds to a config, the sizes of its model; and a run of it that is resumed.
#include "tests/support/resume_cases.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::string model = "model={type: gpt, d_model: 8, num_heads: 2, num_layers: 1}";

}  // namespace

TEST_CASE("sort: the data decides vocab_size and context_length") {
  const TempDir folder;
  const LoadedRun run = load_small(folder, {"data={type: sort, length: 5, symbols: 7}", model});
  CHECK(*run.config.model.find<int64_t>("vocab_size") == 7);
  CHECK(*run.config.model.find<int64_t>("context_length") == 5);
}

TEST_CASE("sort: a resumed run is the whole one") {
  check_resume(
      together({{"data={type: sort, length: 8, symbols: 5}"}, {optimizers[1], schedules[0]}}));
}
