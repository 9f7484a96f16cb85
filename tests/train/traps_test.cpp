// Bugs that users of other trainers have run into, one test per bug. Those that other tests find:
//   gradients too large by the number of micro-batches: nanoGPT#206, transformers PR#34191,
//     build-nanogpt PR#30                                                          step_test.cpp
//   a first learning rate of 0, a division by the 0 steps that are left for the decay:
//     nanoGPT#443, torchtitan PR#1261                                    optim/schedule_test.cpp
//   decay of biases and norms: minGPT#23, lit-llama#254, Fast-LLM PR#545
//                                                                       optim/optimizer_test.cpp
//   Adam without its correction: mlx#1153 and PR#1640, transformers#35504
//                                                                       optim/optimizer_test.cpp
//   a sum of losses that keeps every graph alive: horovod PR#641, pytorch#64586    step_test.cpp
//   dropout while generating: ng-video-lecture#16, nanoGPT PR#240         data/generate_test.cpp
//   NaN for thousands of steps: nanoGPT#136, #167, #215            step_test.cpp, trainer_test.cpp
//   repeated batches, a restarted learning rate, a random stream off by one number after
//     resuming: nanoGPT#467, transformers#11323, torchtune#2439   trainer_test.cpp, resume_test.cpp
//   a text shorter than the context, an empty validation set, noticed in the middle of a run or
//     never: nanoGPT#112, #131, ru-gpts#15    data/text_task_test.cpp, config/run_config_test.cpp
#include <cmath>

#include "tests/support/compare_runs.h"
#include "tests/support/near.h"
#include "tests/support/task_of.h"
#include "tests/support/training_run.h"
#include "train/step.h"
#include "train/trainer.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

// The change of each parameter over the steps of a config.
struct Update {
  std::vector<Array> before, after;
  StepResult last;
};

Update update(const std::vector<std::string>& sets, int steps = 1, double lr = 1) {
  const TempDir folder;
  LoadedRun run = load_small(folder, sets);
  apply_settings(run.config);
  const std::unique_ptr<Module> model = make_layer(run.config.model);
  const auto optimizer = optimizer_registry().make(run.config.optimizer, model->parameters());
  model->train();
  Update result;
  result.before = weights(*model);
  std::optional<Batch> only;
  if (run.config.train.overfit_batch) {
    only = batch_to_overfit(run.task->data(), run.config);
  }
  for (int i = 0; i < steps; ++i) {
    result.last =
        train_step(*model, *run.task, *optimizer, run.config.train, lr, only ? &*only : nullptr);
  }
  result.after = weights(*model);
  return result;
}

double moved(const Update& u, size_t p, int64_t i) {
  return static_cast<double>(u.after[p].data()[i]) - static_cast<double>(u.before[p].data()[i]);
}

// A batch without counted targets.
class Nothing final : public Dataset {
 public:
  Batch next(int64_t batch_size, Generator&) override {
    Ids x = Ids::uninitialised({batch_size, 4}), y = Ids::uninitialised({batch_size, 4});
    std::fill_n(x.mutable_data(), x.size(), 1);
    std::fill_n(y.mutable_data(), y.size(), ignored_target);
    return {Input(std::move(x)), std::move(y)};
  }
  int64_t example_count(Split) const override { return 0; }
  Batch examples(Split, const std::vector<int64_t>&) const override { return {}; }
};

const std::string sgd = "optimizer={type: sgd, lr: 1}";
const std::string in_order = "data={type: text, path: text.txt, sampling: windows, shuffle: false}";

}  // namespace

// lingua PR#59, tt-metal#17568: micro-batches were clipped separately, which changes the direction.
TEST_CASE("trap: gradients are clipped once a step, after accumulation") {
  const std::vector<std::string> sets = {sgd, in_order, "train.accumulate=4"};
  const Update free = update(sets);
  const double clip = free.last.grad_norm / 5;
  std::vector<std::string> with_clip = sets;
  with_clip.push_back(text("train.clip_grad_norm=", clip));
  const Update clipped = update(with_clip);
  int64_t compared = 0;
  for (size_t p = 0; p < free.before.size(); ++p) {
    for (int64_t i = 0; i < free.before[p].size(); ++i, ++compared) {
      CHECK(std::abs(moved(clipped, p, i) - moved(free, p, i) / 5) < 1e-6);
    }
  }
  CHECK(compared > 2000);
}

// llm.c commit c6680a2: max_steps counted micro-batches, so runs were twice as long as configured.
TEST_CASE("trap: a step is an update, not a micro-batch") {
  const TempDir folder;
  Trainer(load_small(folder, {"train.accumulate=3", "train.steps=5"}),
          RunFolder::create(folder / "run", ""))
      .train();
  const MetricsRow last = read_metrics(folder / "run/metrics.csv").back();
  CHECK(last.step == 5);
  CHECK(last.tokens == 5 * 3 * 4 * 8);
  CHECK(read_state(checkpoint_of(folder / "run", 5)).step == 5);
}

// pytorch#70348: a mean over no targets is NaN.
TEST_CASE("trap: a batch without targets has loss 0 and changes nothing") {
  const TempDir folder;
  Stepping run(folder, "--sgd");
  TaskOf task(std::make_unique<Nothing>());
  TrainConfig config;
  config.batch_size = 2;
  const std::vector<Array> before = weights(*run.model);
  const StepResult result = train_step(*run.model, task, *run.optimizer, config, 1);
  CHECK(result.loss == 0);
  CHECK(result.grad_norm == 0);
  CHECK(result.tokens == 0);
  const std::vector<Array> after = weights(*run.model);
  for (size_t p = 0; p < before.size(); ++p) check_same_bits(before[p], after[p]);
}

// micrograd PR#102, llm.c PR#548: gradients of the previous step were still there.
TEST_CASE("trap: no gradient is carried from one step into the next") {
  const TempDir folder;
  Stepping run(folder, "");
  train_step(*run.model, *run.loaded.task, *run.optimizer, run.loaded.config.train, 0);
  for (const NamedParameter& parameter : run.model->parameters()) {
    CHECK_MESSAGE(!parameter.tensor.grad(), parameter.name);
  }
  // With a learning rate of 0, the same batch must give the same gradients.
  const Update once = update({sgd, "train.overfit_batch=true"}, 1, 0);
  const Update thrice = update({sgd, "train.overfit_batch=true"}, 3, 0);
  CHECK(once.last.grad_norm == thrice.last.grad_norm);
}

// lightning#688, F5-TTS PR#756: the old checkpoint was deleted before the new one was complete.
// tests/kill_test.sh kills a run 200 times.
TEST_CASE("trap: a checkpoint that is half written takes nothing from the one before it") {
  const TempDir folder;
  Trainer(load_small(folder, {"checkpoint={every: 6, keep: 1}"}),
          RunFolder::create(folder / "run", ""))
      .train();
  const fs::path checkpoints = folder / "run/checkpoints";
  fs::copy(checkpoint_of(folder / "run", 12), checkpoints / ".heed-tmp-999999999-0");
  fs::remove(checkpoints / ".heed-tmp-999999999-0/manifest.json");
  fs::copy(checkpoints / ".heed-tmp-999999999-0", checkpoints / "step-000018");
  std::vector<std::string> warnings;
  CHECK(newest_good_checkpoint(folder / "run", warnings) == checkpoint_of(folder / "run", 12));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings.front().find("step-000018/manifest.json: cannot open: ") != std::string::npos);
}
