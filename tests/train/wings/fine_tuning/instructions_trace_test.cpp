// 30 steps of fine-tuning on instructions, the answer masked, compared with PyTorch's and the
// book's collation: tests/golden/fine_tuning (tools/reference/instruction_trace.py).
#include <nlohmann/json.hpp>

#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "train/optim/schedule.h"
#include "train/step.h"
#include "train/yaml/yaml.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("instructions: the losses of 30 steps are PyTorch's") {
  const std::filesystem::path folder = HEED_SOURCE_DIR "/tests/golden/fine_tuning";
  const auto golden = nlohmann::json::parse(read_text(folder / "instructions.json"));
  const LoadedRun run = load_run(parse_config(golden["config"], "trace.yaml"), folder);
  apply_settings(run.config);
  const auto model = make_layer(run.config.model);
  const auto optimizer = optimizer_registry().make(run.config.optimizer, model->parameters());
  const TrainConfig& train = run.config.train;
  const auto schedule = schedule_registry().make(run.config.schedule,
                                                 ScheduleSetup{optimizer->base_lr(), train.steps});
  const auto want = golden[precision_name].get<std::vector<double>>();
  REQUIRE(train.steps == 30);
  REQUIRE(want.size() == 30);
  model->train();
  double worst = 0;
  for (int64_t step = 1; step <= train.steps; ++step) {
    const double loss = train_step(*model, *run.task, *optimizer, train, schedule->lr(step)).loss;
    worst = std::max(worst, std::abs(loss - want[static_cast<size_t>(step - 1)]));
  }
  CHECK(worst <= (is_float64 ? 1e-8 : 1e-3));
  MESSAGE("the largest difference is ", worst);
}
