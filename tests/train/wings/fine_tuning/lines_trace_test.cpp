// 30 training steps on documents compared with PyTorch's, which are in tests/golden/fine_tuning
// (made by tools/reference/lines_traces.py).
#include <nlohmann/json.hpp>

#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "train/optim/schedule.h"
#include "train/step.h"
#include "train/yaml/yaml.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("lines: 30 steps are PyTorch's") {
  const std::filesystem::path folder =
      std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/fine_tuning";
  const auto golden = nlohmann::json::parse(read_text(folder / "lines.json"));
  for (const char* const name : {"plain", "dropout"}) {
    const auto& want = golden[name];
    const LoadedRun run = load_run(parse_config(want["config"], "trace.yaml"), folder);
    apply_settings(run.config);
    const auto model = make_layer(run.config.model);
    const auto optimizer = optimizer_registry().make(run.config.optimizer, model->parameters());
    const TrainConfig& train = run.config.train;
    const auto schedule = schedule_registry().make(
        run.config.schedule, ScheduleSetup{optimizer->base_lr(), train.steps});
    model->train();
    REQUIRE(train.steps == 30);
    double loss = 0, grad_norm = 0;
    for (int64_t step = 1; step <= train.steps; ++step) {
      const StepResult got = train_step(*model, *run.task, *optimizer, train, schedule->lr(step));
      const auto at = static_cast<size_t>(step - 1);
      loss = std::max(loss, std::abs(got.loss - want["loss"][at].get<double>()));
      grad_norm =
          std::max(grad_norm, std::abs(got.grad_norm - want["grad_norm"][at].get<double>()));
    }
    CHECK_MESSAGE(loss < (is_float64 ? 1e-8 : 1e-4), std::string(name), " loss ", loss);
    CHECK_MESSAGE(grad_norm < (is_float64 ? 1e-7 : 1e-3), std::string(name), " norm ", grad_norm);
  }
}
