// Whole runs: their files, how they resume, how they end.
#include "train/trainer.h"

#include <unistd.h>

#include "autograd/random/streams.h"
#include "autograd/threads/parallel.h"
#include "tests/support/compare_runs.h"
#include "tests/support/near.h"
#include "tests/support/resume_cases.h"
#include "tests/support/source_tree.h"
#include "tests/support/training_run.h"
#include "train/evaluate.h"
#include "train/run/resume.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

// Dropout, shuffled windows, accumulation, warm-up, evaluation and samples in one run.
const std::vector<std::string> everything = {
    "model.dropout=0.2",
    "data.sampling=windows",
    "train.accumulate=2",
    "train.clip_grad_norm=0.5",
    "schedule={type: cosine, warmup_steps: 3, min_lr: 1e-3}",
    "eval={every: 4, batches: 3}",
    "sample={every: 3, tokens: 9}",
    "checkpoint={every: 5, keep: 9}"};

std::vector<std::string> plus(std::vector<std::string> sets, const std::vector<std::string>& more) {
  sets.insert(sets.end(), more.begin(), more.end());
  return sets;
}

// Starts a run of the small config in folder/name.
Trainer start(const TempDir& folder, const std::string& name,
              const std::vector<std::string>& sets = {}) {
  return Trainer(load_small(folder, sets), RunFolder::create(folder / name, ""));
}

Ending run_of(const TempDir& folder, const std::string& name,
              const std::vector<std::string>& sets = {}) {
  return start(folder, name, sets).train();
}

}  // namespace

TEST_CASE("trainer: N + M steps are N, save, a new trainer, M") {
  const int threads = num_threads();
  for (const char* more : {"random.generators=separate", "random.generators=single",
                           "random.dropout_stream=mt19937", "data.sampling=random"}) {
    CAPTURE(more);
    check_resume(together({everything, {more, "train.log_every=1"}}));
  }
  set_num_threads(threads);
}

TEST_CASE("trainer: 1, 2 and 3 threads write the same bytes") {
  const TempDir folder;
  const int before = num_threads();
  int compared = 0;
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    const std::string name = text("threads-", threads);
    run_of(folder, name, plus(everything, {"model.context_length=32", "model.d_model=48"}));
    compared += compare_checkpoints(folder / "threads-1", folder / name, 12);
    CHECK(rows_of(folder / "threads-1") == rows_of(folder / name));
  }
  set_num_threads(before);
  CHECK(compared == 15);
}

TEST_CASE("trainer: evaluation, samples and checkpoints on the way change nothing") {
  const TempDir folder;
  const std::vector<std::string> quiet(everything.begin(), everything.begin() + 5);
  run_of(folder, "quiet", quiet);
  run_of(folder, "busy", everything);
  for (const char* name : {"model.safetensors", "optimizer.safetensors"}) {
    const bool same = file_of(folder / "quiet", 12, name) == file_of(folder / "busy", 12, name);
    CHECK_MESSAGE(same, name);
  }
  const TrainingState quiet_end = read_state(checkpoint_of(folder / "quiet", 12)),
                      busy_end = read_state(checkpoint_of(folder / "busy", 12));
  CHECK(quiet_end.streams == busy_end.streams);
  CHECK(quiet_end.task_position == busy_end.task_position);
  CHECK(read_text(folder / "quiet/samples.txt").empty());
}

TEST_CASE("trainer: metrics have a row for each step that is logged or evaluated") {
  const TempDir folder;
  run_of(folder, "run", {"eval={every: 3}", "schedule={type: linear, warmup_steps: 20}"});
  CHECK(read_text(folder / "run/metrics.csv")
            .starts_with("step,loss,val_loss,lr,grad_norm,tokens,seconds,bits_per_byte\n"));
  std::vector<int64_t> steps;
  double seconds = 0;
  for (const MetricsRow& row : read_metrics(folder / "run/metrics.csv")) {
    steps.push_back(row.step);
    const bool logged = row.step % 4 == 0 || row.step == 1;
    CHECK(row.loss.has_value() == logged);
    CHECK(row.grad_norm.has_value() == logged);
    CHECK(row.val_loss.has_value() == (row.step % 3 == 0));
    CHECK(row.tokens == row.step * 4 * 8);
    CHECK(row.lr.value() == doctest::Approx(1e-2 * static_cast<double>(row.step) / 21));
    CHECK(row.lr.value() > 0);
    CHECK(row.seconds.value() >= seconds);
    seconds = row.seconds.value();
  }
  CHECK(steps == std::vector<int64_t>{1, 3, 4, 6, 8, 9, 12});
}

TEST_CASE("trainer: learns one batch by heart, and goes on with the same one") {
  const TempDir folder;
  const std::vector<std::string> sets = {"train.overfit_batch=true", "model.dropout=0.5",
                                         "train.steps=150", "checkpoint.every=50"};
  run_of(folder, "run", sets);
  const std::vector<MetricsRow> rows = read_metrics(folder / "run/metrics.csv");
  CHECK(rows.front().loss.value() > 2);
  CHECK(rows.back().loss.value() < 0.1);
  CHECK(read_text(folder / "run/config.yaml").find("dropout: 0\n") != std::string::npos);

  fs::copy(folder / "run", folder / "parts", fs::copy_options::recursive);
  Trainer(load_run(read_run_tree(folder / "run/config.yaml"), folder / "run"),
          RunFolder::open(folder / "parts"), folder / "parts/checkpoints/step-000050")
      .train();
  CHECK(rows_of(folder / "run") == rows_of(folder / "parts"));
}

TEST_CASE("trainer: what diverges stops, and the last checkpoint loads and evaluates") {
  const TempDir folder;
  const std::vector<std::string> sets = {"optimizer={type: sgd, lr: 3e3}", "checkpoint.every=1",
                                         "schedule={type: constant, warmup_steps: 100}",
                                         "train.steps=400"};
  std::string message;
  {
    Trainer trainer = start(folder, "run", sets);
    message = error_of([&] { trainer.train(); });
  }
  std::vector<std::string> warnings;
  const fs::path kept = newest_good_checkpoint(folder / "run", warnings);
  CHECK(warnings.empty());
  Stepping again(folder, "--sgd");
  const int64_t step = load_checkpoint(kept, *again.model, nullptr).step;
  CHECK_MESSAGE(message.starts_with(text("step ", step + 1, ": ")), message);
  CHECK(message.ends_with(text("the checkpoint of step ", step,
                               " is the last good one; a smaller learning rate or "
                               "train.clip_grad_norm may help")));
  CHECK(std::isfinite(evaluate(*again.model, *again.loaded.task, Split::train, 4, 1).loss));
}

TEST_CASE("trainer: weights that are not finite are never saved") {
  if constexpr (!is_float64) {
    const TempDir folder;
    Trainer trainer = start(folder, "run", {"optimizer={type: sgd, lr: 1e60}", "train.steps=1"});
    CHECK(error_of([&] { trainer.train(); })
              .find("is not finite after its update; there is no "
                    "checkpoint yet") != std::string::npos);
    CHECK(!fs::exists(folder / "run/checkpoints"));
  }
}

TEST_CASE("trainer: time is over, and it goes on") {
  const TempDir folder;
  const std::vector<std::string> sets = {"train.steps=100000", "checkpoint.keep=1"};
  int64_t done = 0;
  {
    Trainer trainer = start(folder, "run", sets);
    CHECK(trainer.train(0.05) == Ending::out_of_time);
    done = trainer.step();
  }
  CHECK(done >= 1);
  CHECK(done < 100000);
  std::vector<std::string> warnings;
  Trainer again(load_small(folder, sets), RunFolder::open(folder / "run"),
                newest_good_checkpoint(folder / "run", warnings));
  CHECK(again.step() == done);
  CHECK(again.train(1e-9) == Ending::out_of_time);
  CHECK(again.step() == done + 1);
}

TEST_CASE("trainer: patience ends a run that learns no more, and stays at its end") {
  const TempDir folder;
  const std::vector<std::string> sets = {"optimizer.lr=1e-30", "eval={every: 2, patience: 3}",
                                         "train.steps=1000",
                                         "checkpoint={every: 4, keep: 1, best: true}"};
  CHECK(run_of(folder, "run", sets) == Ending::no_gain);
  const std::vector<MetricsRow> rows = read_metrics(folder / "run/metrics.csv");
  // Such small learning rates change nothing, so the first evaluation (step 2) is the best.
  CHECK(rows.back().step == 8);
  const TrainingState end = read_state(checkpoint_of(folder / "run", 8));
  CHECK(end.best_step == 2);
  CHECK(end.evaluations_since_best == 3);
  CHECK(fs::read_symlink(folder / "run/checkpoints/best") == "step-000002");
  const auto go_on = [&](const std::string& patience, const std::vector<std::string>& also = {}) {
    std::vector<std::string> more = plus(plus(sets, {"eval.patience=" + patience}), also);
    std::vector<std::string> warnings;
    Trainer trainer(load_small(folder, more), RunFolder::open(folder / "run"),
                    newest_good_checkpoint(folder / "run", warnings));
    const Ending ending = trainer.train();
    return std::pair(ending, trainer.step());
  };
  CHECK(go_on("3") == std::pair(Ending::no_gain, int64_t{8}));
  CHECK(go_on("5") == std::pair(Ending::no_gain, int64_t{12}));
  CHECK(go_on("5", {"eval.every=none", "train.steps=14"}) ==
        std::pair(Ending::finished, int64_t{14}));
}

// It is evaluated at its end, step 6, as well; a run that goes on from there is not closer to its
// end than one that was never interrupted.
TEST_CASE("trainer: patience does not count the evaluation at the end of a run that is extended") {
  const TempDir folder;
  const std::vector<std::string> sets = {"optimizer.lr=1e-30", "eval={every: 4, patience: 2}"};
  CHECK(run_of(folder, "whole", plus(sets, {"train.steps=20"})) == Ending::no_gain);
  CHECK(run_of(folder, "parts", plus(sets, {"train.steps=6"})) == Ending::finished);
  Trainer rest(load_small(folder, plus(sets, {"train.steps=20"})),
               RunFolder::open(folder / "parts"), checkpoint_of(folder / "parts", 6));
  CHECK(rest.train() == Ending::no_gain);
  CHECK(rest.step() == 12);
  CHECK(file_of(folder / "whole", 12, "model.safetensors") ==
        file_of(folder / "parts", 12, "model.safetensors"));
}

TEST_CASE("trainer: the best checkpoint is written when it is found, and is kept") {
  const TempDir folder;
  run_of(folder, "run",
         {"eval.every=3", "checkpoint={every: 5, keep: 1, best: true}", "train.steps=30"});
  std::optional<MetricsRow> best;
  for (const MetricsRow& row : read_metrics(folder / "run/metrics.csv")) {
    if (row.val_loss && (!best || *row.val_loss < *best->val_loss)) best = row;
  }
  const fs::path link = folder / "run/checkpoints/best";
  CHECK(fs::read_symlink(link) == checkpoint_of("", static_cast<int>(best->step)).filename());
  Stepping again(folder, "");
  CHECK(load_checkpoint(link, *again.model, nullptr).best_val_loss ==
        doctest::Approx(*best->val_loss));
}

TEST_CASE("trainer: a folder that vanishes or cannot be written stops the run with a word") {
  const TempDir folder;
  const auto message_after = [&](const std::string& name, const std::function<void()>& disturb) {
    Trainer trainer = start(folder, name, {"checkpoint.every=4", "train.log_every=1"});
    CHECK(trainer.train(1e-9) == Ending::out_of_time);  // stops after one step and saves
    disturb();
    return error_of([&] { trainer.train(); });
  };
  const std::string gone = message_after("gone", [&] { fs::remove_all(folder / "gone"); });
  CHECK(gone.find("gone/metrics.csv: cannot write: it was removed while the run was writing it; "
                  "training stopped at step 2; the checkpoint of step 1 is the last good one; once "
                  "this is put right, go on with\n  heed train --resume ") != std::string::npos);

  // A file in place of the checkpoints folder: unlike missing permissions, it also stops root.
  const std::string blocked = message_after("blocked", [&] {
    fs::rename(folder / "blocked/checkpoints", folder / "blocked/aside");
    write_text(folder / "blocked/checkpoints", "");
  });
  CHECK(blocked.find("; training stopped at step 4; the checkpoint of step 1 is ") !=
        std::string::npos);
  if (::geteuid() != 0) {
    const std::string locked = message_after("locked", [&] {
      fs::permissions(folder / "locked/checkpoints", fs::perms::owner_read | fs::perms::owner_exec);
    });
    CHECK(locked.find("Permission denied; training stopped at step 4") != std::string::npos);
    fs::permissions(folder / "locked/checkpoints", fs::perms::owner_all);
  }
}

TEST_CASE("trainer: another config does not go on") {
  const TempDir folder;
  run_of(folder, "run");
  const fs::path of_run = config_of_checkpoint(folder / "run/checkpoints/step-000012");
  const auto differences = [&](const std::vector<std::string>& sets) {
    return error_of([&] { require_resumable(of_run, load_small(folder, sets).resolved); });
  };
  CHECK(differences({"train.steps=99", "eval.every=1", "sample.every=2", "checkpoint.keep=1",
                     "train.log_every=1"}) == "no error");
  CHECK(differences({"optimizer.lr=0.5", "seed=6"}) ==
        text("resume: only train.steps, train.max_seconds, train.log_every, train.recompute, ",
             layout::has_extra("inspect") ? "train.show, " : "",
             "anomaly, eval, checkpoint and sample may change; these differ:",
             "\n  optimizer.lr: 0.01 in the run, 0.5 now\n  seed: 5 in the run, 6 now"));

  const std::string other = error_of([&] {
    Trainer(load_small(folder, {"optimizer.lr=0.5"}), RunFolder::open(folder / "run"),
            folder / "run/checkpoints/step-000012");
  });
  CHECK(other.ends_with("these differ:\n  optimizer.lr: 0.01 in the run, 0.5 now"));
}

TEST_CASE("trainer: the data may move, but not change") {
  const TempDir folder;
  run_of(folder, "run");
  const fs::path of_run = folder / "run/config.yaml";
  write_text(folder / "moved.txt", sample_text());
  CHECK(error_of([&] {
          require_resumable(of_run, load_small(folder, {"data.path=moved.txt"}).resolved);
        }) == "no error");
  write_text(folder / "text.txt", sample_text() + "more");
  CHECK(error_of([&] {
          load_run(read_run_tree(of_run), folder / "run");
        }).find(": changed: expected fingerprint xxh64:") != std::string::npos);
  write_text(folder / "changed.txt", sample_text() + "more");
  CHECK(error_of([&] {
          require_resumable(of_run, load_small(folder, {"data.path=changed.txt"}).resolved);
        }).find("data.fingerprint: ") != std::string::npos);
}
