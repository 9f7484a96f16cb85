// 30 training steps compared with PyTorch's, which are in tests/golden/fine_tuning: on documents,
// on instructions with the book's collation, and of chapter 6 and appendix E of the book. They are
// made by lines_traces.py, instruction_trace.py and fine_tuning_golden.py in tools/reference.
#include <nlohmann/json.hpp>

#include "tests/support/near.h"
#include "tests/support/training_run.h"
#include "train/config/model_start.h"
#include "train/optim/schedule.h"
#include "train/step.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::filesystem::path traces = HEED_SOURCE_DIR "/tests/golden/fine_tuning";

nlohmann::json golden_trace(const std::string& name) {
  return nlohmann::json::parse(read_text(traces / (name + ".json")));
}

struct Trace {
  std::vector<double> losses, grad_norms;
};

Trace trace_of(const std::string& config) {
  const LoadedRun run = load_run(parse_config(config, "trace.yaml"), traces);
  apply_settings(run.config);
  const TrainConfig& train = run.config.train;
  const auto model = make_model(run);
  const auto optimizer =
      optimizer_registry().make(run.config.optimizer, parameters_to_train(*model, train, alone()));
  const auto schedule = schedule_registry().make(run.config.schedule,
                                                 ScheduleSetup{optimizer->base_lr(), train.steps});
  model->train();
  Trace trace;
  for (int64_t step = 1; step <= train.steps; ++step) {
    const StepResult got = train_step(*model, *run.task, *optimizer, train, schedule->lr(step));
    trace.losses.push_back(got.loss);
    trace.grad_norms.push_back(got.grad_norm);
  }
  return trace;
}

void check_steps(const std::vector<double>& got, const std::vector<double>& want,
                 double tolerance) {
  REQUIRE(want.size() == 30);
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    CHECK_MESSAGE(std::abs(got[i] - want[i]) <= tolerance, "step ", i + 1, ": ", got[i],
                  ", PyTorch ", want[i]);
  }
}

}  // namespace

TEST_CASE("lines: 30 steps are PyTorch's") {
  const auto golden = golden_trace("lines");
  for (const std::string name : {"plain", "dropout"}) {
    CAPTURE(name);
    const Trace got = trace_of(golden[name]["config"]);
    check_steps(got.losses, golden[name]["loss"], is_float64 ? 1e-8 : 1e-4);
    check_steps(got.grad_norms, golden[name]["grad_norm"], is_float64 ? 1e-7 : 1e-3);
  }
}

TEST_CASE("instructions: the losses of 30 steps are PyTorch's") {
  const auto golden = golden_trace("instructions");
  check_steps(trace_of(golden["config"]).losses, golden[precision_name], is_float64 ? 1e-8 : 1e-3);
}

TEST_CASE("book: 30 steps of chapter 6 and appendix E follow PyTorch's") {
  for (const std::string name :
       {"chapter_6", "chapter_6_dropout", "appendix_e", "appendix_e_dropout"}) {
    CAPTURE(name);
    const auto golden = golden_trace(name);
    check_steps(trace_of(golden["config"]).losses, golden[precision_name],
                is_float64 ? 1e-9 : 1e-4);
  }
}
