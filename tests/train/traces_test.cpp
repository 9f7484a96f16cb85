// 100 training steps compared with PyTorch's, which are in tests/golden/traces (made by
// tools/reference/train_traces.py).
#include <nlohmann/json.hpp>

#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "train/optim/schedule.h"
#include "train/step.h"
#include "train/yaml/yaml.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

const fs::path traces = fs::path(HEED_SOURCE_DIR) / "tests/golden/traces";

struct Trace {
  std::vector<double> loss, grad_norm, lr;
};

// Runs the steps with the trainer's code.
Trace train_as(const Json& golden) {
  const LoadedRun run = load_run(parse_config(golden["config"], "trace.yaml"), traces);
  apply_settings(run.config);
  const auto model = make_layer(run.config.model);
  const auto optimizer = optimizer_registry().make(run.config.optimizer, model->parameters());
  const TrainConfig& train = run.config.train;
  const auto schedule = schedule_registry().make(run.config.schedule,
                                                 ScheduleSetup{optimizer->base_lr(), train.steps});
  model->train();
  Trace trace;
  for (int64_t step = 1; step <= train.steps; ++step) {
    const double lr = schedule->lr(step);
    const StepResult result = train_step(*model, *run.task, *optimizer, train, lr);
    trace.loss.push_back(result.loss);
    trace.grad_norm.push_back(result.grad_norm);
    trace.lr.push_back(lr);
  }
  return trace;
}

// The largest |got - want| / scale(want).
template <class Scale>
double worst(const std::vector<double>& got, const std::vector<double>& want, Scale&& scale) {
  REQUIRE(got.size() == 100);
  REQUIRE(want.size() == 100);
  double largest = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double difference = std::abs(got[i] - want[i]) / scale(want[i]);
    largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
  }
  return largest;
}

double one(double) { return 1; }

// The largest deviation of loss and gradient norm, as a fraction of the tolerance.
struct Worst {
  double loss = 0, grad_norm = 0;
};

Worst compare(const Trace& trace, const Json& golden) {
  if constexpr (is_float64) {
    return {worst(trace.loss, golden["float64"]["loss"], one) / 1e-8,
            worst(trace.grad_norm, golden["float64"]["grad_norm"], [](double want) {
              return std::abs(want);
            }) / 1e-8};
  }
  const auto part = [&](const std::vector<double>& got, const char* what) {
    const double allowed = 3 * golden["difference"]["largest"][what].get<double>();
    return worst(got, golden["float32"][what], one) / allowed;
  };
  return {part(trace.loss, "loss"), part(trace.grad_norm, "grad_norm")};
}

}  // namespace

// Tolerances. float64: 1e-8, absolute for the loss, relative for the norm. float32: 3 times the
// difference between PyTorch with 1 and with 2 threads.
TEST_CASE("traces: 100 steps are PyTorch's") {
  Worst all;
  int compared = 0, without_float32 = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(traces)) {
    const Json golden = Json::parse(read_text(entry.path()));
    const std::string name = entry.path().stem().string();
    if (!is_float64 && !golden.contains("float32")) {
      ++without_float32;
      continue;
    }
    const Trace trace = train_as(golden);
    CHECK(worst(trace.lr, golden["lr"], one) < 1e-17);
    const Worst here = compare(trace, golden);
    CHECK_MESSAGE(here.loss <= 1, name, ": loss");
    CHECK_MESSAGE(here.grad_norm <= 1, name, ": grad_norm");
    all.loss = std::max(all.loss, here.loss);
    all.grad_norm = std::max(all.grad_norm, here.grad_norm);
    ++compared;
  }
  CHECK(compared == (is_float64 ? 16 : 14));
  CHECK(without_float32 == (is_float64 ? 0 : 2));
  MESSAGE(text(compared, " traces; of what is allowed, the worst loss takes ", all.loss,
               ", the worst gradient norm ", all.grad_norm));
}
