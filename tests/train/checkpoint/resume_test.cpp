// N steps, a checkpoint and M steps in another process equal N + M steps: weights, optimizer,
// streams, metrics and samples, for every kind of model, data and optimizer.
#include "train/run/resume.h"

#include "autograd/random/streams.h"
#include "autograd/threads/parallel.h"
#include "tests/support/compare_runs.h"
#include "tests/support/resume_cases.h"
#include "tests/support/training_run.h"
#include "train/trainer.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

// Samples only for tasks with text.
const std::vector<std::vector<std::string>> data_types = {
    {"data={type: text, path: text.txt}", "sample={every: 4, tokens: 6}"},
    {"data={type: text, path: text.txt, sampling: windows, stride: 3}",
     "sample={every: 4, tokens: 6}"},
    {"data={type: text, path: text.txt, sampling: windows, shuffle: false}"},
    {"data={type: text, path: text.txt, tokenizer: byte, sampling: windows, stride: 200}"},
    {"data={type: synthetic, vocab_size: 5, tokens: 200}"}};

std::vector<std::string> heed_train(const std::string& config, const fs::path& out, int threads,
                                    const std::vector<std::string>& sets) {
  std::vector<std::string> words = {"train", config,      "--out",
                                    out,     "--threads", std::to_string(threads)};
  for (const std::string& set : sets) words.insert(words.end(), {"--set", set});
  return words;
}

}  // namespace

TEST_CASE("resume: every optimizer with every kind of data and every schedule, other threads") {
  const int threads = num_threads();
  int runs = 0;
  for (size_t d = 0; d < data_types.size(); ++d) {
    for (size_t o = 0; o < optimizers.size(); ++o) {
      const std::string& schedule = schedules[(d + o) % schedules.size()];
      CAPTURE(data_types[d].front());
      CAPTURE(optimizers[o]);
      CAPTURE(schedule);
      check_resume(together({data_types[d], {optimizers[o], schedule}}));
      ++runs;
    }
  }
  set_num_threads(threads);
  CHECK(runs == 20);
}

TEST_CASE("resume: a new process with other threads writes the same bytes") {
  int runs = 0;
  for (size_t d = 0; d < data_types.size(); ++d) {
    CAPTURE(data_types[d].front());
    const TempDir folder;
    const std::string config = write_config(folder);
    const fs::path whole = folder / "whole", parts = folder / "parts";
    const std::vector<std::string> sets = sets_in(
        folder,
        together({data_types[d], {optimizers[d % 4], schedules[d % 3], "checkpoint.best=true"}}));
    const ProgramResult first = run_heed(heed_train(config, whole, 1, sets));
    REQUIRE_MESSAGE(first.exit_code == 0, first.err);
    copy_ended_after(5, whole, parts);
    const ProgramResult rest = run_heed({"train", "--resume", parts, "--threads", "2"});
    REQUIRE_MESSAGE(rest.exit_code == 0, rest.err);
    CHECK(compare_checkpoints(whole, parts, 10) == 5);
    CHECK(compare_checkpoints(whole, parts, 12) == 5);
    CHECK(rows_of(whole) == rows_of(parts));
    CHECK(same_samples(whole, parts));
    ++runs;
  }
  CHECK(runs == 5);
}

TEST_CASE("resume: a run of N steps that is given M more is one of N + M") {
  const TempDir folder;
  const std::string config = write_config(folder);
  const fs::path whole = folder / "whole", parts = folder / "parts";
  std::vector<std::string> sets =
      sets_in(folder, together({data_types[1], {optimizers[3], schedules[0]}}));
  sets.push_back("eval.every=4");
  REQUIRE(run_heed(heed_train(config, whole, 2, sets)).exit_code == 0);
  sets.push_back("train.steps=8");
  REQUIRE(run_heed(heed_train(config, parts, 1, sets)).exit_code == 0);
  const ProgramResult rest = run_heed({"train", "--resume", parts, "--set", "train.steps=12"});
  REQUIRE_MESSAGE(rest.exit_code == 0, rest.err);
  CHECK(compare_checkpoints(whole, parts, 12) == 5);
  CHECK(rows_of(whole) == rows_of(parts));
  CHECK(same_samples(whole, parts));
}

TEST_CASE("resume: a config that was edited is refused by the names of its keys") {
  const TempDir folder;
  const std::string config = write_config(folder), run = (folder / "run").string();
  REQUIRE(run_heed(heed_train(config, run, 1, {})).exit_code == 0);
  const std::string before = read_text(folder / "run/config.yaml");
  const auto resumed_with = [&](const std::string& from, const std::string& to) {
    std::string edited = before;
    REQUIRE(edited.find(from) != std::string::npos);
    write_text(folder / "run/config.yaml", edited.replace(edited.find(from), from.size(), to));
    return run_heed({"train", "--resume", run});
  };
  const ProgramResult refused = resumed_with("  lr: 0.01\n", "  lr: 0.02\n");
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.ends_with("differ:\n  optimizer.lr: 0.01 in the run, 0.02 now\n"));
  CHECK(resumed_with("  steps: 12\n", "  steps: 14\n").exit_code == 0);
  CHECK(read_metrics(folder / "run/metrics.csv").back().step == 14);
  CHECK(resumed_with("train:\n", "train:\n  clip_grad_norm: 1\n").exit_code == 2);
}

TEST_CASE("resume: a key that a run's config lacks has its default, one that is gone goes") {
  const TempDir folder;
  const std::string run = (folder / "run").string();
  REQUIRE(run_heed(heed_train(write_config(folder), run, 1, {})).exit_code == 0);
  const LoadedRun now = load_small(folder);
  std::string earlier = file_of(run, 12, "config.yaml");
  for (const std::string key : {"  accumulate: 1\n", "  shuffle: true\n", "fused: true\n"}) {
    REQUIRE(earlier.find(key) != std::string::npos);
    earlier.erase(earlier.find(key), key.size());
  }
  const std::string train = "\ntrain:\n";
  earlier.insert(earlier.find(train) + train.size(), "  shard_optimizer: false\n");
  write_text(folder / "earlier.yaml", earlier);
  CHECK_NOTHROW(require_resumable(folder / "earlier.yaml", now.resolved));
  const LoadedRun other = load_small(folder, {"train.accumulate=2"});
  CHECK_THROWS_WITH_AS(require_resumable(folder / "earlier.yaml", other.resolved),
                       doctest::Contains("\n  train.accumulate: 1 in the run, 2 now"), ConfigError);
  // That of a checkpoint which was copied is a run's, a user's is not.
  fs::copy(checkpoint_of(run, 12), folder / "copy");
  write_text(folder / "copy/config.yaml", earlier);
  const auto has_it = [&](const char* config) {
    return read_run_tree(folder / config).root.get("train").has("shard_optimizer");
  };
  CHECK_FALSE(has_it("copy/config.yaml"));
  CHECK(has_it("earlier.yaml"));
}

TEST_CASE("resume: a run without a checkpoint begins again") {
  const TempDir folder;
  const std::string config = write_config(folder);
  const fs::path whole = folder / "whole", parts = folder / "parts";
  REQUIRE(run_heed(heed_train(config, whole, 1, {"sample={every: 4, tokens: 3}"})).exit_code == 0);
  fs::copy(whole, parts, fs::copy_options::recursive);
  fs::remove_all(parts / "checkpoints");
  fs::create_directory(parts / ".heed-tmp-999999999-0");
  const ProgramResult again = run_heed({"train", "--resume", parts});
  REQUIRE_MESSAGE(again.exit_code == 0, again.err);
  CHECK(again.err.find(" has no checkpoint yet: it begins again\n") != std::string::npos);
  CHECK(compare_checkpoints(whole, parts, 12) == 5);
  CHECK(rows_of(whole) == rows_of(parts));
  CHECK(same_samples(whole, parts));
  CHECK(!fs::exists(parts / ".heed-tmp-999999999-0"));
}
