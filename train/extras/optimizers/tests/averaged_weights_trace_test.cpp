#include "tests/support/near.h"
#include "train/checkpoint/state_dict.h"
#include "train/evaluate.h"
#include "train/extras/optimizers/averaged_weights.h"
#include "train/extras/optimizers/tests/runs_of_optimizers.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> averaging = {
    "train={steps: 12, batch_size: 4, log_every: 1, accumulate: 2, ema: {decay: 0.7}}",
    "model.dropout=0.2", "eval={every: 3, batches: 2}",
    "sample={every: 4, tokens: 20, prompt: Every}", "checkpoint={every: 5, keep: 9, best: true}"};

// The model of a run, asked from its checkpoint of `step`.
struct Asked {
  Asked(const TempDir& folder, const std::vector<std::string>& sets, int step)
      : run(load_run(read_run_tree(write_config(folder), sets_in(folder, sets)), folder.path(),
                     Purpose::train, checkpoint_of(folder / "run", step))),
        model(make_model(run)) {
    load_checkpoint(run.checkpoint, *model, nullptr);
    for_each_hook([&](const RunHooks& each) { each.on_loaded(*model, run); });
  }

  LoadedRun run;
  std::unique_ptr<Module> model;
};

}  // namespace

TEST_CASE("ema: the mean is its recurrence over the weights after each step") {
  const TempDir folder;
  EachStep steps;
  train_small(folder, "run", averaging, &steps);
  REQUIRE(steps.after.size() == 12);
  const Asked asked(folder, averaging, 12);
  const std::vector<Array> found = weights(*asked.model);
  int64_t compared = 0, moved = 0;
  for (size_t p = 0; p < found.size(); ++p) {
    for (int64_t i = 0; i < found[p].size(); ++i) {
      double mean = static_cast<double>(steps.after[0][p].data()[i]);
      for (size_t step = 1; step < 12; ++step) {
        mean = 0.7 * mean + 0.3 * static_cast<double>(steps.after[step][p].data()[i]);
      }
      const auto got = static_cast<double>(found[p].data()[i]);
      CHECK(std::abs(got - mean) <= (is_float64 ? 1e-15 : 1e-6) * std::max(1.0, std::abs(mean)));
      moved += found[p].data()[i] != steps.after[11][p].data()[i] ? 1 : 0;
      ++compared;
    }
  }
  CHECK(compared > 2000);
  CHECK(moved > compared / 2);
}

TEST_CASE("ema: evaluations are those of the mean, and training does not change") {
  const TempDir folder;
  EachStep with, without;
  train_small(folder, "run", averaging, &with);
  std::vector<std::string> plain = averaging;
  plain[0] = "train={steps: 12, batch_size: 4, log_every: 1, accumulate: 2}";
  train_small(folder, "plain", plain, &without);
  int64_t evaluated = 0;
  for (size_t step = 0; step < 12; ++step) {
    CHECK(with.rows[step].loss == without.rows[step].loss);
    if (!with.rows[step].val_loss) continue;
    CHECK(*with.rows[step].val_loss != *without.rows[step].val_loss);
    ++evaluated;
  }
  CHECK(evaluated == 4);
  for (const char* const file : {"model.safetensors", "optimizer.safetensors"}) {
    CHECK(file_of(folder / "run", 12, file) == file_of(folder / "plain", 12, file));
  }
  CHECK(read_text(folder / "run/samples.txt") != read_text(folder / "plain/samples.txt"));
  const auto val_loss = [&](const std::vector<std::string>& sets) {
    const Asked asked(folder, sets, 12);
    return evaluate(*asked.model, *asked.run.task, Split::validation, 4, 2).loss;
  };
  CHECK(val_loss(averaging) == *with.rows[11].val_loss);
  std::vector<std::string> last_weights = averaging;
  last_weights.push_back("train.ema.decay=none");
  CHECK(val_loss(last_weights) == *without.rows[11].val_loss);
}

TEST_CASE("ema: a checkpoint without a mean is asked for its weights") {
  const TempDir folder;
  train_small(folder, "run", averaging);
  const Asked mean(folder, averaging, 10);
  fs::remove(checkpoint_of(folder / "run", 10) / "average.safetensors");
  Manifest manifest = read_manifest(checkpoint_of(folder / "run", 10));
  CHECK(manifest.files.erase("average.safetensors") == 1);
  write_manifest(checkpoint_of(folder / "run", 10), manifest);
  const Asked last(folder, averaging, 10);
  CHECK(weights(*mean.model)[0].data()[0] != weights(*last.model)[0].data()[0]);
}

TEST_CASE("ema: the same bits after a kill, for any number of threads, and with Muon") {
  check_resumed(averaging, 5, 12);
  check_resumed(averaging, 10, 12);
  std::vector<std::string> all = averaging;
  all[0] =
      "train={steps: 40, batch_size: 4, accumulate: 2, ema: {decay: 0.9}, skip_spikes: 1.5, "
      "clip_grad_norm: 1}";
  all.push_back(
      R"(optimizer={type: muon, lr: 0.02, adamw: {lr: 1e-2}, rates: {"tok_emb.*": 0.1}})");
  check_resumed(all, 30, 40);
  const int before = num_threads();
  const TempDir folder;
  for (const int threads : {1, 2, 5}) {
    set_num_threads(threads);
    train_small(folder, std::to_string(threads), all);
  }
  set_num_threads(before);
  CHECK(compare_checkpoints(folder / "1", folder / "2", 40) == 5);
  CHECK(compare_checkpoints(folder / "1", folder / "5", 40) == 5);
}
