// train, eval, generate and resuming, as a user runs them.
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/compare_runs.h"
#include "tests/support/near.h"
#include "tests/support/source_tree.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

const char* const program = is_float64 ? "heed-f64" : "heed";

}  // namespace

TEST_CASE("heed train: a run, its folder, eval and generate") {
  const TempDir folder;
  const std::string config = write_config(folder), out = (folder / "run").string();
  const ProgramResult run = run_heed({"train", config, "--out", out, "--set", "eval.every=6",
                                      "--set", "sample.every=6", "--set", "checkpoint.every=5"});
  REQUIRE_MESSAGE(run.exit_code == 0, run.err);
  CHECK(run.out.empty());
  CHECK(!contains(run.err, "\r"));
  CHECK(!contains(run.err, "\033"));
  CHECK(run.err.starts_with("model      gpt, "));
  CHECK(contains(run.err, "\nstep 1/12   loss "));
  CHECK(contains(run.err, "\nstep 12/12   loss "));
  CHECK(contains(run.err, "\nmemory     peak "));
  CHECK(run.err.ends_with("done: " + out + "\n"));
  CHECK(contains(read_text(folder / "run/log.txt"), "OpenBLAS kernels for "));
  for (const char* name :
       {"config.yaml", "metrics.csv", "samples.txt", "log.txt",
        "checkpoints/step-000005/manifest.json", "checkpoints/step-000010/manifest.json",
        "checkpoints/step-000012/manifest.json"}) {
    CHECK_MESSAGE(fs::exists(folder / "run" / name), name);
  }

  const ProgramResult eval = run_heed({"eval", out, "--json"});
  CHECK(eval.exit_code == 0);
  const Json result = Json::parse(eval.out);
  CHECK(eval.err.empty());
  CHECK(result["step"] == 12);
  for (const char* key : {"train_loss", "val_loss", "tokens", "accuracy", "exact_match"}) {
    CHECK_MESSAGE(result[key].is_number(), key);
  }
  CHECK(result["tokens"] == 488);  // 61 windows of 8 in 494 characters
  const double in_metrics = read_metrics(folder / "run/metrics.csv").back().val_loss.value();
  CHECK(result["val_loss"].get<double>() == doctest::Approx(in_metrics).epsilon(1e-6));
  const ProgramResult earlier = run_heed({"eval", out + "/checkpoints/step-000005", "--json"});
  CHECK(Json::parse(earlier.out)["step"] == 5);
  CHECK(contains(run_heed({"eval", out}).out, "val loss     "));

  const ProgramResult written =
      run_heed({"generate", out, "--prompt", "Every ", "--tokens", "20", "--top-k", "5"});
  CHECK(written.exit_code == 0);
  CHECK(written.out.starts_with("Every "));
  CHECK(written.out.size() == 6 + 20 + 1);
  CHECK(written.out ==
        run_heed({"generate", out, "--prompt", "Every ", "--tokens", "20", "--top-k", "5"}).out);
  CHECK(written.out != run_heed({"generate", out, "--prompt", "Every ", "--tokens", "20", "--top-k",
                                 "5", "--seed", "4"})
                           .out);
}

TEST_CASE("heed train: the plan alone, and time that is over") {
  const TempDir folder;
  const std::string config = write_config(folder), out = (folder / "run").string();
  const ProgramResult plan = run_heed({"train", config, "--out", out, "--dry-run"});
  CHECK(plan.exit_code == 0);
  CHECK(plan.out.starts_with("model      gpt, "));
  CHECK(plan.err.empty());
  CHECK(!fs::exists(out));

  const ProgramResult timed = run_heed({"train", config, "--out", out, "--max-seconds", "0.05",
                                        "--set", "train.steps=1000000", "--threads", "1"});
  CHECK(timed.exit_code == 0);
  CHECK(contains(timed.err, "\ntime is over at step "));
  CHECK(timed.err.ends_with(", saved; go on with\n  heed train --resume " + out + "\n"));
  CHECK(fs::exists(folder / "run/checkpoints"));
}

TEST_CASE("heed train: a run that is done says so, and goes on when it is given more steps") {
  const TempDir folder;
  const std::string config = write_config(folder), out = (folder / "run").string();
  REQUIRE(run_heed({"train", config, "--out", out}).exit_code == 0);
  const ProgramResult done = run_heed({"train", "--resume", out});
  CHECK(done.exit_code == 0);
  CHECK(contains(done.err, "nothing to do: all 12 steps are done; --set train.steps=N goes on\n"));
  CHECK(contains(done.err, "\nmemory     peak "));
  CHECK(!contains(done.err, "planned"));
  const ProgramResult more =
      run_heed({"train", config, "--resume", out, "--set", "train.steps=20"});
  CHECK_MESSAGE(more.exit_code == 0, more.err);
  CHECK(contains(more.err, " planned)\n"));
  CHECK(read_metrics(folder / "run/metrics.csv").back().step == 20);
  const ProgramResult other = run_heed({"train", "--resume", out, "--set", "optimizer.lr=1"});
  CHECK(other.exit_code == 2);
  CHECK(other.err ==
        "resume: only train.steps, train.log_every, train.show, train.shard_optimizer, anomaly, "
        "eval, checkpoint and sample may change; these differ:\n  optimizer.lr: 0.01 in the run, 1 "
        "now\n");
}

TEST_CASE("heed train: more steps of a schedule that falls: both rates are said") {
  const TempDir folder;
  const std::string config = write_config(folder), out = (folder / "run").string();
  const auto schedule = [&](const std::string& words) {
    fs::remove_all(out);
    REQUIRE(run_heed({"train", config, "--out", out, "--set", "schedule=" + words}).exit_code == 0);
    return run_heed({"train", "--resume", out, "--set", "train.steps=24", "--dry-run"});
  };
  const ProgramResult cosine = schedule("{type: cosine, min_lr: 1e-4}");
  REQUIRE(cosine.exit_code == 0);
  CHECK(contains(cosine.out,
                 "\nschedule   the learning rate jumps from 0.000269 at step 12 to 0.00505: cosine "
                 "over 24 steps, no longer 12\n"));
  CHECK(!contains(schedule("{type: constant}").out, "\nschedule   "));
  REQUIRE(run_heed({"train", "--resume", out, "--set", "train.steps=14"}).exit_code == 0);
}

TEST_CASE("heed train: a validation loss that has risen is said, and what helps") {
  const TempDir folder;
  const std::string config = write_config(folder), out = (folder / "run").string();
  const auto ending = [&](const std::string& best) {
    fs::remove_all(out);
    // The rate grows until the weights fly apart.
    const ProgramResult run = run_heed(
        {"train", config, "--out", out, "--set", "optimizer.lr=2", "--set",
         "schedule={type: cosine, warmup_steps: 59}", "--set", "eval={every: 4, batches: 2}",
         "--set", "checkpoint={every: 100, best: " + best + "}", "--set", "train.steps=60"});
    REQUIRE_MESSAGE(run.exit_code == 0, run.err);
    const size_t line = run.err.find("\nval loss   has risen: ");
    REQUIRE(line != std::string::npos);
    return run.err.substr(line);
  };
  CHECK(contains(ending("false"), " is not kept; eval.patience=3 stops in time"));
  const std::string kept = ending("true");
  CHECK(contains(kept, " is kept; eval.patience=3 stops in time, checkpoint.best=true keeps it\n"));
  CHECK(kept.ends_with("\ndone: " + out + "\n"));
  const ProgramResult falls =
      run_heed({"train", config, "--out", out + "-2", "--set", "eval.every=4"});
  CHECK(falls.exit_code == 0);
  CHECK(!contains(falls.err, "has risen"));
}

TEST_CASE("heed train: Ctrl-C saves, says how to go on, and nothing is lost") {
  const TempDir folder;
  const std::string config = write_config(folder);
  const std::string whole = (folder / "whole").string(), parts = (folder / "parts").string();
  const std::vector<std::string> sets = {"--threads", "1",
                                         "--set",     "train.steps=4000",
                                         "--set",     "model.dropout=0.1",
                                         "--set",     "data.sampling=windows",
                                         "--set",     "eval={every: 500, batches: 2}",
                                         "--set",     "sample={every: 500, tokens: 5}"};
  std::vector<std::string> words = {"train", config, "--out", whole};
  words.insert(words.end(), sets.begin(), sets.end());
  REQUIRE(run_heed(words).exit_code == 0);

  // As a shell starts background jobs: with SIGINT ignored.
  std::string command =
      "'" + (fs::path(HEED_BUILD_DIR) / program).string() + "' train " + config + " --out " + parts;
  for (const std::string& word : sets) command += " '" + word + "'";
  const ProgramResult stopped =
      run_program("/bin/sh", {"-c", command +
                                        " & job=$!\n"
                                        "until grep -q '^40,' " +
                                        parts +
                                        "/metrics.csv 2>/dev/null; do\n"
                                        "  kill -0 $job || exit 99\n  sleep 0.01\ndone\n"
                                        "kill -INT $job; wait $job\n"});
  CHECK_MESSAGE(stopped.exit_code == 130, stopped.err);
  CHECK(contains(stopped.err, "\ninterrupted at step "));
  CHECK(stopped.err.ends_with(", saved; go on with\n  heed train --resume " + parts + "\n"));

  const ProgramResult rest = run_heed({"train", "--resume", parts, "--threads", "2"});
  REQUIRE_MESSAGE(rest.exit_code == 0, rest.err);
  CHECK(compare_checkpoints(whole, parts, 4000) == 5);
  CHECK(rows_of(whole) == rows_of(parts));
  CHECK(read_text(whole + "/samples.txt") == read_text(parts + "/samples.txt"));
}

TEST_CASE("heed train: --overfit-batch learns its batch by heart") {
  const TempDir folder;
  const std::string config = write_config(folder), out = (folder / "run").string();
  const ProgramResult run = run_heed({"train", config, "--out", out, "--overfit-batch", "--set",
                                      "train.steps=150", "--set", "model.dropout=0.3"});
  CHECK_MESSAGE(run.exit_code == 0, run.err);
  CHECK(contains(run.err, ", one batch of it\n"));
  CHECK(read_metrics(folder / "run/metrics.csv").back().loss.value() < 0.1);
}

// The bytes in "... about 123 MB: ..." or "memory     peak 123 MB (...)", following `before`.
double megabytes_after(const std::string& output, const std::string& before) {
  REQUIRE_MESSAGE(contains(output, before), output);
  return std::stod(output.substr(output.find(before) + before.size()));
}

TEST_CASE("heed train: the memory of the plan is that of the run") {
  const TempDir folder;
  const std::string config = write_config(folder);
  int runs = 0;
  // Dominated by activations; the same without fused operations; weights and optimizer state.
  for (const std::vector<std::string>& sets : std::vector<std::vector<std::string>>{
           {"model.d_model=192", "model.context_length=128", "train.batch_size=12",
            "model.num_layers=3", "eval={every: 1, batches: 1}"},
           {"model.d_model=48", "model.context_length=128", "train.batch_size=12", "fused=false",
            "model.dropout=0.1", "train.accumulate=2"},
           {"model.d_model=384", "model.num_layers=6", "train.batch_size=1",
            "sample={every: 1, tokens: 3}"}}) {
    std::vector<std::string> words = {"train", config, "--set", "train.steps=2"};
    for (const std::string& set : sets) words.insert(words.end(), {"--set", set});
    words.push_back("--dry-run");
    const ProgramResult plan = run_heed(words);
    REQUIRE_MESSAGE(plan.exit_code == 0, plan.err);
    words.back() = "--out=" + (folder / std::to_string(runs)).string();
    const ProgramResult run = run_heed(words);
    REQUIRE_MESSAGE(run.exit_code == 0, run.err);
    const double planned = megabytes_after(plan.out, "\nmemory     about ");
    const double used = megabytes_after(run.err, "\nmemory     peak ");
    MESSAGE("planned ", planned, " MB, used ", used, " MB");
    CHECK(used > 40);
    CHECK(std::abs(planned - used) < (address_sanitizer ? 3 : 1) * std::max(30.0, 0.15 * used));
    ++runs;
  }
  CHECK(runs == 3);
}

TEST_CASE("heed train: a second process in the folder of a run is refused") {
  const TempDir folder;
  const std::string config = write_config(folder), out = (folder / "run").string();
  // The first process trains until the second has ended.
  const ProgramResult both = run_program(
      "/bin/sh", {"-c", "heed='" + (fs::path(HEED_BUILD_DIR) / program).string() +
                            "'\n\"$heed\" train " + config + " --out " + out +
                            " --threads 1 --set train.steps=100000000 2>/dev/null & first=$!\n"
                            "until grep -q '^1,' " +
                            out +
                            "/metrics.csv 2>/dev/null; do\n"
                            "  kill -0 $first || exit 99\n  sleep 0.01\ndone\n"
                            "\"$heed\" train --resume " +
                            out + "; echo \"$? $first\"\nkill -TERM $first; wait $first\n"});
  CHECK_MESSAGE(both.exit_code == 130, both.err);
  const std::string first = both.out.substr(2, both.out.find('\n') - 2);
  CHECK(both.out.starts_with("1 "));
  CHECK_MESSAGE(contains(both.err, "heed: " + out + ": process " + first + " on "), both.err);
  CHECK(contains(both.err, " is training in this folder; wait for its end, or stop it\n"));
}

TEST_CASE("heed train: what diverges ends with 3 and names the step") {
  const TempDir folder;
  const std::string config = write_config(folder);
  const ProgramResult run =
      run_heed({"train", config, "--out", (folder / "run").string(), "--set",
                "optimizer={type: sgd, lr: 1e250}", "--set", "precision=float64"});
  CHECK(run.exit_code == 3);
  CHECK(contains(run.err, "\nheed: step "));
  CHECK(contains(run.err,
                 "; there is no checkpoint yet; a smaller learning rate or "
                 "train.clip_grad_norm may help\n"));
}

TEST_CASE("heed train: every config in configs/ is valid and runs") {
  if constexpr (!is_float64) {
    const TempDir folder;
    int configs = 0;
    for (const fs::path& config : house::shipped_configs()) {
      const std::string path = config.string(), name = config.stem().string();
      const ProgramResult valid = run_heed({"validate", path});
      CHECK_MESSAGE(valid.exit_code == 0, valid.err);
      const std::string first = read_text(path).substr(0, read_text(path).find('\n'));
      CHECK(first == "# heed train " + fs::relative(config, house::root()).string());
      ++configs;
      // Two steps and a checkpoint of 1.5 GB: too slow.
      if (name == "gpt2_124m" || name == "smollm2_135m") continue;
      const ProgramResult run = run_heed({"train", path, "--out", (folder / name).string(), "--set",
                                          "train.steps=2", "--set", "eval.batches=1"});
      CHECK_MESSAGE(run.exit_code == 0, run.err);
      CHECK(read_metrics(folder / name / "metrics.csv").back().step == 2);
    }
    CHECK(configs >= 11);
  }
}
