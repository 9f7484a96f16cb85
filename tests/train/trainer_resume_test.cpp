// What a trainer does before it changes a run that it resumes, and what it says when it fails.
#include <algorithm>
#include <csignal>
#include <functional>
#include <new>

#include "tests/support/compare_runs.h"
#include "tests/support/near.h"
#include "tests/support/task_of.h"
#include "tests/support/training_run.h"
#include "train/trainer.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

void train_run(const TempDir& folder, const std::vector<std::string>& sets) {
  Trainer(load_small(folder, sets), RunFolder::create(folder / "run", "")).train();
}

// Resumes the run in folder/run from the checkpoint of `step`.
Trainer resumed(const TempDir& folder, int step, const std::vector<std::string>& sets) {
  return Trainer(load_small(folder, sets), RunFolder::open(folder / "run"),
                 checkpoint_of(folder / "run", step));
}

std::vector<std::string> checkpoints_in(const TempDir& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / "run/checkpoints")) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Training examples that are drawn without end, so that there are none to evaluate on. From the
// batch `last` on, `fails` is called.
class Endless final : public Dataset {
 public:
  explicit Endless(int64_t validation, int last = 1 << 30, std::function<void()> fails = {})
      : validation_(validation), left_(last), fails_(std::move(fails)) {}

  Batch next(int64_t batch_size, Generator& data) override {
    if (--left_ < 0) fails_();
    ++position_;
    Batch batch = batch_of(batch_size);
    for (int64_t i = 0; i < batch.targets.size(); ++i) {
      batch.input.ids.mutable_data()[i] = static_cast<int32_t>(data.random32() % 21);
    }
    return batch;
  }
  std::vector<int64_t> position() const override { return {position_}; }
  void set_position(const std::vector<int64_t>& position) override { position_ = position.at(0); }
  int64_t example_count(Split split) const override {
    return split == Split::train ? 0 : validation_;
  }
  Batch examples(Split, const std::vector<int64_t>& which) const override {
    return batch_of(static_cast<int64_t>(which.size()));
  }

 private:
  static Batch batch_of(int64_t count) {
    return {Input(Ids::zeros({count, 8})), Ids::zeros({count, 8})};
  }
  int64_t validation_, position_ = 0;
  int left_;
  std::function<void()> fails_;
};

LoadedRun with_examples(const TempDir& folder, std::unique_ptr<Dataset> examples,
                        const std::vector<std::string>& sets) {
  LoadedRun run = load_small(folder, sets);
  run.task = std::make_unique<TaskOf>(std::move(examples), ModelSizes{{"vocab_size", 21}});
  return run;
}

// Asks the run to end once `step` has been evaluated, so before the sample of the next one.
struct EndsAfter final : RunHooks {
  explicit EndsAfter(int64_t last) : step(last) {}
  void on_evaluation(int64_t now, const Evaluation&) override {
    if (now == step) std::raise(SIGTERM);
  }
  const int64_t step;
};

// A signal during the forward pass of this number in evaluations.
struct StopsEvaluation final : ForwardObserver {
  explicit StopsEvaluation(int number) : left(number) {}
  void before_forward(const Module& layer, const Input&) override {
    if (layer.path().empty() && !layer.training() && --left == 0) std::raise(SIGUSR1);
  }
  int left;
};

}  // namespace

TEST_CASE("trainer: going back reads everything before it removes anything, and says what") {
  const TempDir folder;
  const std::vector<std::string> sets = {"checkpoint={every: 4, keep: 9}", "train.log_every=1"};
  train_run(folder, sets);
  const fs::path metrics = folder / "run/metrics.csv";
  const std::string whole = read_text(metrics);
  const std::vector<std::string> all = {"step-000004", "step-000008", "step-000012"};

  // A damaged row before the checkpoint: nothing is removed.
  std::string damaged = whole;
  write_text(metrics, damaged.replace(damaged.find("\n2,") + 1, 1, "x"));
  CHECK(error_of([&] { resumed(folder, 4, sets); })
            .ends_with("metrics.csv:3: expected at least 8 numbers between commas; delete this "
                       "line to go on without it"));
  CHECK(checkpoints_in(folder) == all);
  CHECK(read_text(metrics) == damaged);

  // One after it does not matter.
  write_text(metrics, whole + "garbage\n");
  CHECK(resumed(folder, 4, sets).step() == 4);
  CHECK(checkpoints_in(folder) == std::vector<std::string>{"step-000004"});
  CHECK(read_metrics(metrics).back().step == 4);
  CHECK(contains(read_text(folder / "run/log.txt"),
                 "going back to step 4: removes step-000008 to step-000012, 2 checkpoints, and the "
                 "rows and samples after step 4\n"));
}

TEST_CASE("trainer: a run is not cut to fewer steps than it has done") {
  const TempDir folder;
  train_run(folder, {});
  const std::string config = read_text(folder / "run/config.yaml");
  CHECK(error_of([&] { resumed(folder, 12, {"train.steps=5"}); }) ==
        "train.steps: this run has done 12 steps; expected at least as many, got 5");
  CHECK(read_text(folder / "run/config.yaml") == config);
}

TEST_CASE("trainer: seconds go on from the checkpoint, also in a run that logged none") {
  const TempDir folder;
  const std::vector<std::string> sets = {"train.log_every=1000", "train.steps=13",
                                         "checkpoint={every: 5, keep: 9}"};
  train_run(folder, sets);
  const auto state_of = [&](int step) {
    Stepping fresh(folder, "");
    return load_checkpoint(checkpoint_of(folder / "run", step), *fresh.model, nullptr);
  };
  const double at_5 = state_of(5).seconds, at_10 = state_of(10).seconds;
  CHECK(at_5 > read_metrics(folder / "run/metrics.csv").front().seconds.value());
  CHECK(at_10 > at_5);
  // As if the steps up to 5 had taken an hour.
  const fs::path checkpoint = checkpoint_of(folder / "run", 5);
  Manifest manifest = read_manifest(checkpoint);
  manifest.seconds = 3600;
  write_manifest(checkpoint, manifest);
  resumed(folder, 5, sets).train();
  CHECK(read_metrics(folder / "run/metrics.csv").back().seconds.value() > 3600);
  CHECK(state_of(10).seconds > 3600);
}

TEST_CASE("trainer: the best loss is not one over other examples") {
  const TempDir folder;
  const std::vector<std::string> sets = {"eval={every: 4, batches: 1}", "train.steps=8",
                                         "checkpoint={best: true, every: 4, keep: 9}"};
  train_run(folder, sets);
  const auto more = [&](const std::string& batches) {
    return std::vector<std::string>{sets[0], sets[1], sets[2], "eval.batches=" + batches};
  };
  CHECK(resumed(folder, 8, more("1")).state().best_val_loss.has_value());
  Trainer other = resumed(folder, 8, more("2"));
  CHECK(!other.state().best_val_loss.has_value());
  CHECK(other.state().evaluations_since_best == 0);
  CHECK(other.state().best_step.has_value());  // its checkpoint stays until the next evaluation
  CHECK(fs::exists(folder / "run/checkpoints/best"));
}

TEST_CASE("trainer: a task without training examples saves, resumes and evaluates") {
  for (const int64_t validation : {int64_t{0}, int64_t{6}}) {
    CAPTURE(validation);
    const TempDir folder;
    const std::vector<std::string> sets = {"checkpoint={every: 5, keep: 9}"};
    const auto run = [&] {
      return with_examples(folder, std::make_unique<Endless>(validation), sets);
    };
    CHECK(Trainer(run(), RunFolder::create(folder / "whole", "")).train() == Ending::finished);
    copy_ended_after(5, folder / "whole", folder / "run");
    Trainer rest(run(), RunFolder::open(folder / "run"), checkpoint_of(folder / "run", 5));
    CHECK(rest.train() == Ending::finished);
    CHECK(compare_checkpoints(folder / "whole", folder / "run", 12) == 5);
    CHECK(rest.state().task_position == std::vector<int64_t>{12});
  }
}

TEST_CASE("trainer: every error in the middle of a run says where the last checkpoint is") {
  const std::string stopped =
      "; training stopped at step 5; the checkpoint of step 4 is the last good one; once this is "
      "put right, go on with\n  heed train --resume ";
  int cases = 0;
  const auto message_of = [&](const std::function<void()>& fails) {
    const TempDir folder;
    ++cases;
    Trainer trainer(
        with_examples(folder, std::make_unique<Endless>(1, 5, fails), {"checkpoint.every=4"}),
        RunFolder::create(folder / "my run", ""));
    const std::string message = error_of([&] { trainer.train(); });
    const std::string quoted = "'" + (folder / "my run").string() + "'";
    CHECK_MESSAGE(message.ends_with(stopped + quoted), message);
    return message;
  };
  CHECK(message_of([] { throw std::bad_alloc(); }).starts_with("out of memory; "));
  CHECK(message_of([] { fail<ConfigError>("task: no"); }).starts_with("task: no; "));
  CHECK(message_of([] { fail<ShapeError>("op: no"); }).starts_with("op: no; "));
  CHECK(message_of([] { throw std::runtime_error("mine"); }).starts_with("mine; "));
  CHECK(cases == 4);
}

TEST_CASE("trainer: a sample that an interrupt stops is made on resuming, to the same bytes") {
  const TempDir folder;
  const std::vector<std::string> sets = {"eval={every: 1, batches: 1}",
                                         "sample={every: 3, tokens: 9}", "checkpoint.keep=9"};
  Trainer(load_small(folder, sets), RunFolder::create(folder / "whole", "")).train();
  for (const int step : {3, 12}) {  // 12: the last one
    CAPTURE(step);
    fs::remove_all(folder / "run");
    EndsAfter hooks(step - 1);
    {
      Trainer trainer(load_small(folder, sets), RunFolder::create(folder / "run", ""));
      trainer.add_hooks(hooks);
      CHECK(trainer.train() == Ending::interrupted);
      CHECK(trainer.step() == step);
      CHECK(trainer.state().sample_due);
    }
    CHECK(!contains(read_text(folder / "run/samples.txt"), text("--- step ", step, "\n")));
    CHECK(read_state(checkpoint_of(folder / "run", step)).sample_due);
    CHECK(resumed(folder, step, sets).train(1e-9) == Ending::out_of_time);  // before the sample
    CHECK(resumed(folder, step, sets).train() == Ending::finished);
    CHECK(read_text(folder / "run/samples.txt") == read_text(folder / "whole/samples.txt"));
    CHECK(compare_checkpoints(folder / "whole", folder / "run", 12) == 5);
    CHECK(rows_of(folder / "whole") == rows_of(folder / "run"));
  }
}

TEST_CASE("trainer: an evaluation that an interrupt stops is made on resuming, to the same bytes") {
  for (const int step : {4, 12}) {  // 12: the last one
    CAPTURE(step);
    const TempDir folder;
    const std::vector<std::string> sets = {text("eval={every: ", step, ", batches: 3}"),
                                           "checkpoint={best: true, keep: 9}", "train.log_every=2"};
    Trainer(load_small(folder, sets), RunFolder::create(folder / "whole", "")).train();
    {
      Trainer trainer(load_small(folder, sets), RunFolder::create(folder / "run", ""));
      StopsEvaluation signal(2);
      CHECK(trainer.train() == Ending::interrupted);
      CHECK(signal.left == -1);  // not the third one, but the check of the weights that are saved
      CHECK(trainer.step() == step);
      CHECK(trainer.state().evaluation_due);
      CHECK(!trainer.state().best_val_loss.has_value());
    }
    CHECK(!read_metrics(folder / "run/metrics.csv").back().val_loss.has_value());
    {
      StopsEvaluation signal(1);  // once more: the row stays
      CHECK(resumed(folder, step, sets).train() == Ending::interrupted);
      CHECK(read_metrics(folder / "run/metrics.csv").back().loss.has_value());
    }
    CHECK(resumed(folder, step, sets).train() == Ending::finished);
    CHECK(compare_checkpoints(folder / "whole", folder / "run", step) == 5);
    CHECK(compare_checkpoints(folder / "whole", folder / "run", 12) == 5);
    CHECK(rows_of(folder / "whole") == rows_of(folder / "run"));
  }
}

TEST_CASE("trainer: a sample without end does not outlast the time, nor the work before it") {
  const TempDir folder;
  const std::vector<std::string> sets = {"sample={every: 1, tokens: 4000000000000}"};
  {
    Trainer trainer(load_small(folder, sets), RunFolder::create(folder / "run", ""));
    CHECK(trainer.train(0.1) == Ending::out_of_time);
  }
  CHECK(read_text(folder / "run/samples.txt").empty());
  CHECK(resumed(folder, 1, sets).state().sample_due);
}
