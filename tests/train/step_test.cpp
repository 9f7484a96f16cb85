// One training step: accumulation, clipping, errors, and memory left behind.
#include "train/step.h"

#include "autograd/array/storage.h"
#include "autograd/graph/graph.h"
#include "autograd/ops/arithmetic.h"
#include "layers/module/added_losses.h"
#include "tests/support/near.h"
#include "tests/support/task_of.h"
#include "tests/support/temp_dir.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;

namespace {

TrainConfig steps_of(int64_t batch_size, int64_t accumulate, std::optional<double> clip = {}) {
  TrainConfig config;
  config.batch_size = batch_size;
  config.accumulate = accumulate;
  config.clip_grad_norm = clip;
  return config;
}

// Batches with different numbers of counted targets.
class Uneven final : public Dataset {
 public:
  Batch next(int64_t batch_size, Generator&) override {
    Ids x = Ids::uninitialised({batch_size, 4}), y = Ids::uninitialised({batch_size, 4});
    for (int64_t i = 0; i < x.size(); ++i, ++drawn_) {
      x.mutable_data()[i] = static_cast<int32_t>(drawn_ % 5);
      y.mutable_data()[i] = drawn_ % 7 < drawn_ / 8 ? ignored_target : int32_t(drawn_ % 3);
    }
    return {Input(std::move(x)), std::move(y)};
  }
  int64_t example_count(Split) const override { return 0; }
  Batch examples(Split, const std::vector<int64_t>&) const override { return {}; }

 private:
  int64_t drawn_ = 0;
};

}  // namespace

TEST_CASE("step: k micro-batches are one batch k times as large") {
  const TempDir folder;
  std::vector<std::vector<Array>> results;
  std::vector<StepResult> last;
  for (const int64_t accumulate : {1, 2, 4}) {
    Stepping run(folder, "");
    StepResult result;
    for (int i = 0; i < 5; ++i) {
      result = train_step(*run.model, *run.loaded.task, *run.optimizer,
                          steps_of(8 / accumulate, accumulate, 0.5), 1e-2);
    }
    results.push_back(weights(*run.model));
    last.push_back(result);
  }
  int64_t compared = 0;
  for (const size_t k : {1u, 2u}) {
    CHECK(last[k].tokens == 64);
    CHECK(last[k].loss == doctest::Approx(last[0].loss).epsilon(1e-6));
    CHECK(last[k].grad_norm == doctest::Approx(last[0].grad_norm).epsilon(1e-6));
    for (size_t p = 0; p < results[0].size(); ++p) {
      compared += check_near(results[k][p], results[0][p], 1e-6);
    }
  }
  CHECK(compared > 4000);
}

TEST_CASE("step: micro-batches with different numbers of targets weigh by them") {
  const TempDir folder;
  std::vector<std::vector<Array>> results;
  std::vector<StepResult> first;
  for (const int64_t accumulate : {1, 4}) {
    Stepping run(folder, "--sgd");
    TaskOf task(std::make_unique<Uneven>());
    first.push_back(
        train_step(*run.model, task, *run.optimizer, steps_of(8 / accumulate, accumulate), 1e-1));
    results.push_back(weights(*run.model));
  }
  CHECK(first[0].tokens == first[1].tokens);
  CHECK(first[0].tokens < 32);
  CHECK(first[0].loss == doctest::Approx(first[1].loss).epsilon(1e-6));
  CHECK(first[0].grad_norm == doctest::Approx(first[1].grad_norm).epsilon(1e-6));
  int64_t compared = 0;
  for (size_t p = 0; p < results[0].size(); ++p) {
    compared += check_near(results[1][p], results[0][p], 1e-6);
  }
  CHECK(compared > 2000);
}

TEST_CASE("step: what layers add to the loss is differentiated, and comes by name") {
  const TempDir folder;
  // Adds w (w - 2) / 2, twice: w is drawn to 1.
  struct Pulled final : Module {
    Parameter w{this, "w", Shape{}, [](Array& values) { *values.mutable_data() = 3; }};
    Tensor forward(const Input& in) override {
      for (int i = 0; i < 2; ++i) add_loss("pull", real(0.25) * w * (w - 2));
      return Tensor(Array::zeros({in.ids.dim(0), in.ids.dim(1), 5}));
    }
  };
  for (const int64_t accumulate : {1, 4}) {
    Pulled model;
    const auto optimizer = optimizer_registry().make(Choice("sgd"), model.parameters());
    TaskOf task(std::make_unique<Uneven>());
    const StepResult result =
        train_step(model, task, *optimizer, steps_of(8 / accumulate, accumulate), 0.5);
    CHECK(result.loss == doctest::Approx(std::log(5.0)));  // the task's own
    CHECK(result.added.size() == 1);
    CHECK(result.added.at("pull") == doctest::Approx(1.5));
    CHECK(result.grad_norm == doctest::Approx(2));  // w - 1
    CHECK(model.w.tensor().value().data()[0] == doctest::Approx(2));
  }
}

TEST_CASE("step: clipping scales the update, not the norm that is reported") {
  const TempDir folder;
  const auto update = [&](std::optional<double> clip, double& norm) {
    Stepping run(folder, "--sgd");
    const std::vector<Array> before = weights(*run.model);
    norm =
        train_step(*run.model, *run.loaded.task, *run.optimizer, steps_of(4, 1, clip), 1).grad_norm;
    double squares = 0;
    const std::vector<Array> after = weights(*run.model);
    for (size_t p = 0; p < before.size(); ++p) {
      for (int64_t i = 0; i < before[p].size(); ++i) {
        const double d = static_cast<double>(after[p].data()[i]) - before[p].data()[i];
        squares += d * d;
      }
    }
    return std::sqrt(squares);
  };
  double free_norm = 0, clipped_norm = 0;
  const double free_update = update({}, free_norm);
  const double clipped_update = update(free_norm / 4, clipped_norm);
  CHECK(free_norm > 0.1);
  CHECK(free_update == doctest::Approx(free_norm).epsilon(1e-4));
  CHECK(clipped_update == doctest::Approx(free_norm / 4).epsilon(1e-4));
  CHECK(free_norm == clipped_norm);
}

TEST_CASE("step: no buffer from the system after the third, no graph left, nothing grows") {
  const TempDir folder;
  Stepping run(folder, "--dropout");
  const int64_t parameters = live_nodes();  // one leaf node per parameter
  int64_t misses = 0, live = 0, nodes = 0;
  for (int i = 1; i <= 12; ++i) {
    train_step(*run.model, *run.loaded.task, *run.optimizer, steps_of(4, 2, 1.0), 1e-3);
    nodes += live_nodes() - parameters;
    if (i == 3) {
      misses = pool::stats().misses;
      live = pool::stats().live_bytes;
    }
  }
  CHECK(nodes == 0);
  CHECK(misses > 0);
  CHECK(pool::stats().misses == misses);
  CHECK(pool::stats().live_bytes == live);
}

TEST_CASE("step: what is not finite stops it before a weight changes, and is named") {
  const TempDir folder;
  Stepping run(folder, "--sgd");
  const auto break_it = [&](const char* name) {
    for (NamedParameter& parameter : run.model->parameters()) {
      if (parameter.name == name) {
        const NoGrad off;
        parameter.tensor.mutable_value()[0] = std::numeric_limits<real>::quiet_NaN();
      }
    }
  };
  break_it("out_head.weight");
  const std::vector<Array> before = weights(*run.model);
  try {
    train_step(*run.model, *run.loaded.task, *run.optimizer, steps_of(4, 1), 1);
    FAIL("expected a DivergedError");
  } catch (const DivergedError& error) {
    CHECK(std::string(error.what()) == "the loss is NaN");
  }
  const std::vector<Array> after = weights(*run.model);
  for (size_t p = 0; p < before.size(); ++p) check_same_bits(before[p], after[p]);
}
