// Two models trained by two threads of a host program; .ci/run also runs this under the thread
// sanitizer.
#include <doctest/doctest.h>

#include <thread>

#include "autograd/threads/parallel.h"
#include "tests/support/compare_runs.h"
#include "tests/support/training_run.h"
#include "train/plan.h"
#include "train/trainer.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::vector<std::string> of_gpt = {"model.context_length=24",
                                         "model.d_model=48",
                                         "model.dropout=0.2",
                                         "data.sampling=windows",
                                         "train.accumulate=2",
                                         "train.clip_grad_norm=0.5",
                                         "eval={every: 4, batches: 3}",
                                         "sample={every: 6, tokens: 9}",
                                         "checkpoint={every: 5, keep: 9}"};
const std::vector<std::string> of_synthetic = {
    "data={type: synthetic, vocab_size: 9}",
    "model={type: gpt, context_length: 8, d_model: 32, num_heads: 2, num_layers: 2, dropout: 0.1}",
    "optimizer={type: sgd, lr: 0.1}",
    "random.dropout_stream=mt19937",
    "fused=false",
    "checkpoint={every: 5, keep: 9}"};

// Plans, builds, trains and saves, as `heed train` does.
void run(const TempDir& folder, const std::string& name, const std::vector<std::string>& sets) {
  LoadedRun loaded = load_run(read_run_tree((folder / "c.yaml").string(), sets), folder.path());
  make_plan(loaded);
  Trainer(std::move(loaded), RunFolder::create(folder / name, "")).train();
}

}  // namespace

TEST_CASE("host threads: two runs at the same time write the bytes of one after the other") {
  const TempDir folder;
  write_config(folder);
  const int before = num_threads();
  set_num_threads(2);
  run(folder, "gpt", of_gpt);
  run(folder, "synthetic", of_synthetic);
  std::thread first([&] { run(folder, "gpt-2", of_gpt); });
  std::thread second([&] { run(folder, "synthetic-2", of_synthetic); });
  first.join();
  second.join();
  set_num_threads(before);
  for (const std::string name : {"gpt", "synthetic"}) {
    CAPTURE(name);
    CHECK(compare_checkpoints(folder / name, folder / (name + "-2"), 10) == 5);
    CHECK(compare_checkpoints(folder / name, folder / (name + "-2"), 12) == 5);
    CHECK(rows_of(folder / name) == rows_of(folder / (name + "-2")));
  }
  CHECK(read_text(folder / "gpt/samples.txt") == read_text(folder / "gpt-2/samples.txt"));
}
