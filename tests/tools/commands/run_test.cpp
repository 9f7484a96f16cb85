// Where a run, a checkpoint and its data may be, for the commands that read them.
#include <doctest/doctest.h>

#include "tests/support/compare_runs.h"
#include "tests/support/near.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

std::string trained(const TempDir& folder, const std::string& name,
                    const std::vector<std::string>& more = {}) {
  const std::string run = (folder / name).string();
  std::vector<std::string> words = {"train", write_config(folder), "--out", run};
  words.insert(words.end(), more.begin(), more.end());
  const ProgramResult result = run_heed(words);
  REQUIRE_MESSAGE(result.exit_code == 0, result.err);
  return run;
}

}  // namespace

TEST_CASE("heed: a checkpoint that was copied elsewhere is a model") {
  const TempDir folder;
  const std::string run = trained(folder, "run", {"--set", "checkpoint.every=6"});
  const std::string model = (folder / "my_model").string();
  fs::copy(checkpoint_of(run, 6), model);
  const ProgramResult eval = run_heed({"eval", model, "--json"});
  CHECK_MESSAGE(eval.exit_code == 0, eval.err);
  CHECK(eval.out == run_heed({"eval", checkpoint_of(run, 6).string(), "--json"}).out);
  const ProgramResult text = run_heed({"generate", model, "--prompt", "E", "--tokens", "3"});
  CHECK_MESSAGE(text.exit_code == 0, text.err);
  if (has_command("inspect")) {
    const ProgramResult inspected = run_heed({"inspect", model});
    CHECK_MESSAGE(contains(inspected.out, "checkpoint"), inspected.err);
    CHECK(contains(inspected.out, "step 6"));
    succeeded({"inspect", "--attention", model, "--prompt", "E"});
  }
  const ProgramResult resume = run_heed({"train", "--resume", model});
  CHECK(resume.exit_code == 2);
  CHECK(resume.err == "heed train: --resume " + model +
                          ": a copy of a checkpoint; expected a run folder, or "
                          "checkpoints/step-* in one\n");
  CHECK(!fs::exists(model + "/.lock"));
}

TEST_CASE("heed: a run called step-000007 is a run, also in a folder called checkpoints") {
  for (const char* name : {"step-000007", "checkpoints/step-000007"}) {
    const TempDir folder;
    const std::string run = trained(folder, name);
    CHECK(run_heed({"eval", run}).exit_code == 0);
    const ProgramResult more = run_heed({"train", "--resume", run, "--set", "train.steps=14"});
    CHECK_MESSAGE(more.exit_code == 0, more.err);
    CHECK(read_metrics(run + "/metrics.csv").back().step == 14);
  }
}

TEST_CASE("heed: a link to a run may be called best") {
  const TempDir folder;
  const std::string run = trained(folder, "run"), best = (folder / "best").string();
  fs::create_directory_symlink("run", best);
  const ProgramResult eval = run_heed({"eval", best, "--json"});
  CHECK_MESSAGE(eval.exit_code == 0, eval.err);
  CHECK(eval.out == run_heed({"eval", run, "--json"}).out);
  CHECK(run_heed({"train", "--resume", best, "--set", "train.steps=14"}).exit_code == 0);
}

TEST_CASE("heed: data that has moved is named by --set data.path") {
  const TempDir folder;
  const std::string run = trained(folder, "run");
  const std::string all = run_heed({"eval", run, "--json"}).out;
  fs::create_directory(folder / "moved");
  fs::rename(folder / "text.txt", folder / "moved/new.txt");
  const ProgramResult lost = run_heed({"eval", run});
  CHECK(lost.exit_code == 1);
  CHECK(lost.err.starts_with(run + "/config.yaml:"));
  CHECK(lost.err.ends_with(": data.path: " + (folder / "text.txt").string() +
                           ": cannot open: No such file or directory; if it has moved: --set "
                           "data.path=FILE\n"));
  // Relative to the current folder, for these as for train --resume.
  const fs::path here = fs::current_path();
  fs::current_path(folder / "moved");
  const std::vector<std::string> set = {"--set", "data.path=new.txt"};
  CHECK(run_heed({"eval", run, "--json", set[0], set[1]}).out == all);
  CHECK(run_heed({"generate", run, "--prompt", "E", set[0], set[1]}).exit_code == 0);
  if (has_command("inspect")) {
    succeeded({"inspect", "--attention", run, "--prompt", "E", set[0], set[1]});
  }
  const ProgramResult resumed =
      run_heed({"train", "--resume", run, "--set", "train.steps=14", set[0], set[1]});
  CHECK_MESSAGE(resumed.exit_code == 0, resumed.err);
  fs::current_path(here);
  CHECK(run_heed({"eval", run}).exit_code == 0);  // its config knows the new place

  write_text(folder / "moved/other.txt", sample_text() + "more");
  const ProgramResult other =
      run_heed({"eval", run, "--set", "data.path=" + (folder / "moved/other.txt").string()});
  CHECK(other.exit_code == 1);
  CHECK(contains(other.err, ": changed: expected fingerprint xxh64:"));
  CHECK(other.err.ends_with("; bring that file back, or train anew\n"));
  write_text(folder / "moved/new.txt", sample_text() + "o");
  const ProgramResult changed = run_heed({"eval", run});
  CHECK(changed.err.ends_with("; bring that file back, or train anew\n"));
  write_text(folder / "moved/new.txt", sample_text());
  const ProgramResult wrong = run_heed({"eval", run, "--set", "seed=7"});
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err ==
        "--set seed=7: of a run, only data.path may be set: it is as it was trained\n");
}

TEST_CASE("heed: the text is not needed to ask the model") {
  const TempDir folder;
  for (const char* tokenizer : {"char", "byte"}) {
    const std::string run =
        trained(folder, tokenizer, {"--set", text("data.tokenizer=", tokenizer)});
    const std::vector<std::string> generate = {"generate", run, "--prompt", "E", "--tokens", "9"};
    const std::string written = succeeded(generate).out;
    fs::rename(folder / "text.txt", folder / "moved.txt");
    CHECK(succeeded(generate).out == written);
    CHECK(run_heed({"eval", run}).exit_code == 1);
    if (has_command("inspect")) {
      succeeded({"inspect", "--attention", run, "--prompt", "E"});
      const ProgramResult examples = run_heed({"inspect", "--attention", run});
      CHECK(examples.exit_code == 2);
      CHECK(contains(examples.err, "no text to take examples from; --set data.path=FILE gives"));
    }
  }
}

TEST_CASE("heed eval --data: the loss over all of another file") {
  const TempDir folder;
  const std::string run = trained(folder, "run"), other = (folder / "other.txt").string();
  const std::string words = sample_text();
  write_text(other, std::string(words.rbegin(), words.rend()));
  const ProgramResult eval = run_heed({"eval", run, "--data", other});
  CHECK_MESSAGE(eval.exit_code == 0, eval.err);
  CHECK(contains(eval.out, "data         " + other + "\nloss         "));
  CHECK(!contains(eval.out, "train loss"));
  // More targets than the validation part has, and another loss than the text read forwards.
  write_text(other, words);
  const ProgramResult forwards = run_heed({"eval", run, "--data", other});
  CHECK(forwards.exit_code == 0);
  CHECK(forwards.out != eval.out);
  fs::remove(folder / "text.txt");  // which is not asked for
  CHECK(run_heed({"eval", run, "--data", other}).out == forwards.out);

  const ProgramResult both = run_heed({"eval", run, "--data", other, "--set", "data.path=a"});
  CHECK(both.exit_code == 2);
  CHECK(contains(both.err, ": takes the place of the run's data; leave --set out\n"));
  write_text(other, words + "~");
  CHECK(contains(run_heed({"eval", run, "--data", other}).err, "the character ~"));
  CHECK(contains(run_heed({"eval", run, "--data", "no.txt"}).err, "no.txt: cannot open"));
}

TEST_CASE("heed eval --data: a task that makes its examples reads no file") {
  const TempDir folder;
  const std::string run = (folder / "run").string(), config = (folder / "c.yaml").string();
  write_text(config,
             text("precision: ", precision_name,
                  "\ndata: {type: synthetic, vocab_size: 4}\n"
                  "model: {type: gpt, context_length: 3, d_model: 4, num_heads: 1, num_layers: 1}\n"
                  "train: {steps: 2, batch_size: 4}\n"));
  succeeded({"train", config, "--out", run});
  const ProgramResult eval = run_heed({"eval", run, "--data", config});
  CHECK(eval.exit_code == 2);
  CHECK(eval.err ==
        "--data " + config + ": synthetic makes its examples itself and reads no file\n");
}

TEST_CASE("heed: a run whose config.yaml was changed is not taken for the one that was trained") {
  const TempDir folder;
  const std::string run = trained(folder, "run"), file = run + "/config.yaml";
  const std::string whole = read_text(file);
  const auto edited = [&](const std::string& from, const std::string& to) {
    std::string config = whole;
    REQUIRE(contains(config, from));
    write_text(file, config.replace(config.find(from), from.size(), to));
    const ProgramResult eval = run_heed({"eval", run});
    CHECK(run_heed({"generate", run, "--prompt", "E"}).exit_code == eval.exit_code);
    if (has_command("inspect")) CHECK(run_heed({"inspect", run}).err == eval.err);
    return eval;
  };
  const std::string differs = file +
                              ": was changed after training, and says something else than the "
                              "checkpoint about the model or its data; these differ:\n  ";
  const ProgramResult heads = edited("num_heads: 3", "num_heads: 1");
  CHECK(heads.exit_code == 2);
  CHECK(heads.err == differs + "model.num_heads: 3 in the checkpoint, 1 now\n");
  // Also where the weights would no longer fit.
  CHECK(edited("num_layers: 1", "num_layers: 2").err ==
        differs + "model.num_layers: 1 in the checkpoint, 2 now\n");
  CHECK(edited("seed: 5", "seed: 6").err == differs + "seed: 5 in the checkpoint, 6 now\n");
  CHECK(edited("train_fraction: 0.8", "train_fraction: 0.7").err ==
        differs + "data.train_fraction: 0.8 in the checkpoint, 0.7 now\n");
  // What neither the weights nor the examples depend on.
  for (const auto& [from, to] : {std::pair{"steps: 12", "steps: 20"},
                                 {"every: none", "every: 3"},
                                 {"lr: 0.01", "lr: 0.02"}}) {
    const ProgramResult eval = edited(from, to);
    CHECK_MESSAGE(eval.exit_code == 0, eval.err);
  }
}

TEST_CASE("heed train: a path that config.yaml cannot hold is refused before the first step") {
  const TempDir folder;
  const fs::path latin = folder / "caf\xE9";
  fs::create_directory(latin);
  const std::string config = write_config(folder);
  fs::copy(folder / "text.txt", latin / "text.txt");
  fs::copy(config, latin / "c.yaml");
  const fs::path here = fs::current_path();
  fs::current_path(latin);
  const ProgramResult refused = run_heed({"train", "c.yaml"});
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "data.path: "));
  CHECK(contains(refused.err, ": expected a path in UTF-8, which config.yaml can hold"));
  CHECK(!fs::exists("runs"));
  // The run itself may be in such a folder.
  REQUIRE(run_heed({"train", config, "--out", "run"}).exit_code == 0);
  CHECK(run_heed({"eval", "run"}).exit_code == 0);
  CHECK(run_heed({"train", "--resume", "run", "--set", "train.steps=14"}).exit_code == 0);
  fs::current_path(here);
}

TEST_CASE("heed train: the run is locked before its checkpoint is chosen") {
  const TempDir folder;
  const std::string run = trained(folder, "run");
  fs::resize_file(checkpoint_of(run, 12) / "model.safetensors", 10);
  CHECK(contains(run_heed({"train", "--resume", run}).err, ": damaged: "));
  const RunFolder held = RunFolder::open(run);
  const ProgramResult second = run_heed({"train", "--resume", run});
  CHECK(second.exit_code == 1);
  CHECK(contains(second.err, " is training in this folder; wait for its end, or stop it\n"));
}

TEST_CASE("heed train: the command that it prints can be copied into a shell") {
  const TempDir folder;
  fs::create_directory(folder / "we ird");
  const std::string run =
      trained(folder, "we ird/it's", {"--max-seconds", "1e-9", "--set", "train.steps=20"});
  const std::string log = read_text(run + "/log.txt");
  const std::string mark = "go on with\n  heed train ";
  REQUIRE(contains(log, mark));
  const std::string words = log.substr(log.find(mark) + mark.size());
  const fs::path program = fs::path(HEED_BUILD_DIR) / (is_float64 ? "heed-f64" : "heed");
  const ProgramResult resumed =
      run_program("/bin/bash", {"-c", "'" + program.string() + "' train " + words});
  CHECK_MESSAGE(resumed.exit_code == 0, resumed.err);
  CHECK(read_metrics(run + "/metrics.csv").back().step == 20);
  const ProgramResult taken = run_heed({"train", (folder / "c.yaml").string(), "--out", run});
  CHECK(contains(taken.err, "--resume '" + (folder / "we ird").string() + "/it'\\''s'\n"));
}

TEST_CASE("heed train: going back says what it removes, in a dry run too") {
  const TempDir folder;
  const std::string run = trained(folder, "run", {"--set", "checkpoint.every=6"});
  const std::string line =
      "going back to step 6: removes step-000012, and the rows and samples after step 6\n";
  const std::string at_6 = checkpoint_of(run, 6).string();
  const ProgramResult dry = run_heed({"train", "--resume", at_6, "--dry-run"});
  CHECK(contains(dry.out, line));
  CHECK(fs::exists(checkpoint_of(run, 12)));
  const ProgramResult back = run_heed({"train", "--resume", at_6});
  CHECK(back.exit_code == 0);
  CHECK(contains(back.err, line));
}

TEST_CASE("heed eval: while its checkpoints are pruned") {
  const TempDir folder;
  const std::string run = (folder / "run").string();
  const fs::path program = fs::path(HEED_BUILD_DIR) / (is_float64 ? "heed-f64" : "heed");
  const std::string heed = "'" + program.string() + "'";
  const ProgramResult both = run_program(
      "/bin/bash",
      {"-c", heed + " train " + write_config(folder) + " --out " + run +
                 " --threads 1 --set train.steps=100000000 --set 'checkpoint={every: 1, keep: 1}' "
                 "2>/dev/null & job=$!\n"
                 "until compgen -G '" +
                 run +
                 "/checkpoints/step-*' >/dev/null; do\n"
                 "  kill -0 $job || exit 99\ndone\n"
                 "failed=0\nfor i in {1..30}; do " +
                 heed + " eval " + run +
                 " >/dev/null || ((failed += 1)); done\nkill -TERM $job; wait $job\n"
                 "echo \"$failed failed\"\n"});
  CHECK_MESSAGE(both.out == "0 failed\n", both.err);
}

TEST_CASE("heed: a link that leads to itself is named, whether it is the run or in it") {
  const TempDir folder;
  const fs::path run = trained(folder, "run"), loop = folder / "loop";
  fs::create_symlink(loop, loop);
  fs::remove(run / "config.yaml");
  fs::create_symlink(run / "config.yaml", run / "config.yaml");
  const auto refused = [](const std::vector<std::string>& words, const fs::path& named) {
    const ProgramResult result = run_heed(words);
    CHECK(result.exit_code != 0);
    CHECK_MESSAGE(contains(result.err, named.string() + ":"), result.err);
    CHECK_MESSAGE(!contains(result.err, "filesystem error"), result.err);
  };
  refused({"eval", run.string()}, run / "config.yaml");
  for (const char* command : {"eval", "generate", "inspect", "validate"}) {
    if (has_command(command)) refused({command, loop.string()}, loop);
  }
  if (has_command("inspect")) refused({"inspect", "--attention", loop.string()}, loop);
  refused({"train", "--resume", loop.string()}, loop);
}
