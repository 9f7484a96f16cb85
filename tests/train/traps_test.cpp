// Bugs that users of other trainers have run into, one test per bug. Those that other tests find:
//   gradients too large by the number of micro-batches: nanoGPT#206, transformers PR#34191,
//     build-nanogpt PR#30                                                          step_test.cpp
//   micro-batches clipped one by one, which changes the direction: lingua PR#59, tt-metal#17568
//                                                                                  step_test.cpp
//   gradients of the step before: micrograd PR#102, llm.c PR#548                  traces_test.cpp
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
//   an old checkpoint deleted before the new one was complete: lightning#688, F5-TTS PR#756
//                                              checkpoint/checkpoint_test.cpp, kill_test.sh
//   a text shorter than the context, an empty validation set, noticed in the middle of a run or
//     never: nanoGPT#112, #131, ru-gpts#15    data/text_task_test.cpp, config/run_config_test.cpp
#include "tests/support/compare_runs.h"
#include "tests/support/near.h"
#include "tests/support/task_of.h"
#include "tests/support/training_run.h"
#include "train/step.h"
#include "train/trainer.h"

using namespace heed;
using namespace heed::testing;

namespace {

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

}  // namespace

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
