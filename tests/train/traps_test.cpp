// Bugs that users of other trainers have run into, one test per bug, in their shortest form. A file
// name in a comment says where the same thing is tested in full.
#include <cmath>

#include "autograd/graph/graph.h"
#include "autograd/random/streams.h"
#include "layers/module/evaluation_mode.h"
#include "tests/support/compare_runs.h"
#include "tests/support/near.h"
#include "tests/support/task_of.h"
#include "tests/support/training_run.h"
#include "train/data/generate.h"
#include "train/step.h"
#include "train/trainer.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

// The change of each parameter over the steps of a config.
struct Update {
  std::vector<std::string> names;
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
  for (const NamedParameter& parameter : model->parameters())
    result.names.push_back(parameter.name);
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

template <class F>
void for_each_weight(const Update& u, F&& f) {
  for (size_t p = 0; p < u.before.size(); ++p) {
    for (int64_t i = 0; i < u.before[p].size(); ++i) f(p, i);
  }
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

// nanoGPT#206, transformers PR#34191, build-nanogpt PR#30: gradients were too large by a factor of
// the number of micro-batches. step_test.cpp: micro-batches with different numbers of targets.
TEST_CASE("trap: accumulated gradients are divided by the tokens of all micro-batches") {
  const Update one = update({sgd, in_order, "train.batch_size=8"});
  const Update four = update({sgd, in_order, "train.batch_size=2", "train.accumulate=4"});
  CHECK(four.last.loss == doctest::Approx(one.last.loss).epsilon(1e-6));
  CHECK(four.last.grad_norm == doctest::Approx(one.last.grad_norm).epsilon(1e-5));
  int64_t compared = 0;
  for (size_t p = 0; p < one.after.size(); ++p) {
    compared += check_near(four.after[p], one.after[p], 1e-5);
  }
  CHECK(compared > 2000);
}

// lingua PR#59, tt-metal#17568: micro-batches were clipped separately, which changes the direction.
TEST_CASE("trap: gradients are clipped once a step, after accumulation") {
  const std::vector<std::string> sets = {sgd, in_order, "train.accumulate=4"};
  const Update free = update(sets);
  const double clip = free.last.grad_norm / 5;
  std::vector<std::string> with_clip = sets;
  with_clip.push_back(text("train.clip_grad_norm=", clip));
  const Update clipped = update(with_clip);
  int64_t compared = 0;
  for_each_weight(free, [&](size_t p, int64_t i) {
    CHECK(std::abs(moved(clipped, p, i) - moved(free, p, i) / 5) < 1e-6);
    ++compared;
  });
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

// nanoGPT#443, torchtitan PR#1261: a first learning rate of 0, and a division by 0 if no steps are
// left for the decay. schedule_test.cpp: all values at the edges.
TEST_CASE("trap: warm-up never gives 0, and no length of a schedule divides by 0") {
  int64_t tried = 0;
  for (const char* type : {"constant", "linear", "cosine", "stable_decay"}) {
    for (const int64_t warmup : {0, 1, 4, 5, 9}) {
      const auto schedule = schedule_registry().make(
          type, ConfigNode::map({{"warmup_steps", warmup}}), ScheduleSetup{1e-3, 5});
      for (int64_t step = 1; step <= 7; ++step, ++tried) {
        CAPTURE(step);
        CHECK(std::isfinite(schedule->lr(step)));
        CHECK(schedule->lr(step) <= 1e-3);
        CHECK((schedule->lr(step) > 0 || step > 5));
      }
      CHECK(schedule->lr(1) > 0);
    }
  }
  CHECK(tried == 140);
}

// minGPT#23, lit-llama#254, Fast-LLM PR#545.
TEST_CASE("trap: weight decay leaves biases and norms alone") {
  const auto with = [](const char* decay) {
    return update({text("optimizer={type: adamw, lr: 1e-2, weight_decay: ", decay, "}")}, 1, 1e-2);
  };
  const Update none = with("0"), strong = with("0.5");
  int vectors = 0, matrices = 0;
  for (size_t p = 0; p < none.after.size(); ++p) {
    CAPTURE(none.names[p]);
    if (none.after[p].rank() < 2) {
      check_same_bits(none.after[p], strong.after[p]);
      ++vectors;
      continue;
    }
    double distance = 0;
    for (int64_t i = 0; i < none.after[p].size(); ++i) {
      distance +=
          std::abs(static_cast<double>(none.after[p].data()[i] - strong.after[p].data()[i]));
    }
    CHECK(distance > 0);
    ++matrices;
  }
  CHECK(vectors >= 8);
  CHECK(matrices >= 8);
}

// mlx#1153 and PR#1640, transformers#35504. optimizer_test.cpp has PyTorch's numbers.
TEST_CASE(
    "trap: Adam corrects its bias, so that the first step has the length of the learning rate") {
  for (const char* type : {"adam", "adamw"}) {
    const Update u =
        update({text("optimizer={type: ", type, ", lr: 1e-3, weight_decay: 0}")}, 1, 1e-3);
    int64_t full = 0;
    for_each_weight(u, [&](size_t p, int64_t i) {
      CHECK(std::abs(moved(u, p, i)) < 1.001e-3);
      full += std::abs(moved(u, p, i)) > 0.999e-3 ? 1 : 0;
    });
    CHECK(full > 1500);  // all except those with gradients close to eps
  }
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

// horovod PR#641, pytorch#64586: a sum of losses kept every graph alive. step_test.cpp: memory too.
TEST_CASE("trap: nothing that a step reports keeps its graph") {
  const TempDir folder;
  Stepping run(folder, "--dropout");
  const int64_t nodes = live_nodes();
  double total = 0;
  for (int i = 0; i < 5; ++i) {
    total += train_step(*run.model, *run.loaded.task, *run.optimizer, run.loaded.config.train, 1e-3)
                 .loss;
    CHECK(live_nodes() == nodes);
  }
  CHECK(total > 0);
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

// ng-video-lecture#16, nanoGPT PR#240: dropout was active while generating or evaluating.
TEST_CASE("trap: generating switches dropout off, and back on") {
  const TempDir folder;
  Stepping run(folder, "--dropout");
  const StreamsState before = streams().state();
  const SamplingOptions likeliest{.temperature = 0};
  const auto first = generate(*run.model, {1, 2, 3}, 12, likeliest, 8);
  CHECK(first == generate(*run.model, {1, 2, 3}, 12, likeliest, 8));
  CHECK(run.model->training());
  CHECK(streams().state() == before);
}

// nanoGPT#136, #167, #215: NaN for thousands of steps. trainer_test.cpp: the last good checkpoint.
TEST_CASE("trap: training stops at the first number that is not finite, before a weight changes") {
  const TempDir folder;
  Stepping run(folder, "--sgd");
  NamedParameter head = run.model->parameters().back();
  {
    const NoGrad off;
    head.tensor.mutable_value()[0] = std::numeric_limits<real>::infinity();
  }
  const std::vector<Array> before = weights(*run.model);
  CHECK_THROWS_AS(
      train_step(*run.model, *run.loaded.task, *run.optimizer, run.loaded.config.train, 1),
      DivergedError);
  const std::vector<Array> after = weights(*run.model);
  for (size_t p = 0; p < before.size(); ++p) check_same_bits(before[p], after[p]);
}

// nanoGPT#467, transformers#11323, torchtune#2439: repeated batches, a restarted learning rate, a
// random stream off by one number. resume_test.cpp: everything, byte for byte.
TEST_CASE("trap: a resumed run neither repeats batches nor begins its learning rate anew") {
  const TempDir folder;
  const std::vector<std::string> sets = {"data={type: text, path: text.txt, sampling: windows}",
                                         "schedule={type: cosine, warmup_steps: 4}",
                                         "model.dropout=0.2", "train.log_every=1",
                                         "checkpoint={every: 6}"};
  Trainer(load_small(folder, sets), RunFolder::create(folder / "whole", "")).train();
  copy_ended_after(6, folder / "whole", folder / "parts");
  Trainer(load_small(folder, sets), RunFolder::open(folder / "parts"),
          checkpoint_of(folder / "parts", 6))
      .train();
  const auto whole = read_metrics(folder / "whole/metrics.csv"),
             parts = read_metrics(folder / "parts/metrics.csv");
  REQUIRE(parts.size() == 12);
  for (size_t i = 0; i < 12; ++i) {
    CHECK(parts[i].lr == whole[i].lr);
    CHECK(parts[i].loss == whole[i].loss);
    CHECK(parts[i].tokens == whole[i].tokens);
  }
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

// nanoGPT#112, #131, ru-gpts#15: detected in the middle of a run, or never.
TEST_CASE("trap: a text shorter than the context and an empty validation set are refused at once") {
  const TempDir folder;
  for (const char* set : {"model.context_length=4000", "data.train_fraction=0.999"}) {
    CHECK_THROWS_WITH_AS(load_small(folder, {set}),
                         doctest::Contains("too short for context_length"), ConfigError);
  }
  CHECK_THROWS_WITH_AS(load_small(folder, {"data.train_fraction=1", "eval.every=2"}),
                       doctest::Contains("no validation part to evaluate on"), ConfigError);
}
