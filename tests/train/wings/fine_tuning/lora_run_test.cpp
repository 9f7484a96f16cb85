// Runs of train.lora, as a user starts them.
#include <doctest/doctest.h>

#include "tests/support/compare_runs.h"
#include "tests/support/training_run.h"
#include "train/files/safetensors.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

// A base, RUN/base, and a config that trains LoRA on it.
struct LoraRun {
  LoraRun() {
    write_config(folder, text("precision: ", precision_name, "\n", small_config));
    succeeded({"train", config(), "--out", path("base")});
  }
  std::string config() const { return (folder / "c.yaml").string(); }
  std::string path(const std::string& name) const { return (folder / name).string(); }

  ProgramResult train(const std::string& out, std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"train",     config(),     "--out", path(out),
                                   "--weights", path("base"), "--set", "train.lora={rank: 2}"};
    words.insert(words.end(), more.begin(), more.end());
    return run_heed(words);
  }

  const TempDir folder;
};

std::string line_with(const std::string& lines, const std::string& begin) {
  const size_t at = lines.find(begin);
  return at == std::string::npos ? "" : lines.substr(at, lines.find('\n', at) - at);
}

}  // namespace

TEST_CASE("lora: a run trains few parameters, keeps those alone, and goes on with the same bits") {
  const LoraRun run;
  const ProgramResult whole = run.train("whole", {"--set", "checkpoint.every=6"});
  REQUIRE_MESSAGE(whole.exit_code == 0, whole.err);
  CHECK_MESSAGE(contains(whole.err + whole.out, "96 of them trained"), whole.out, whole.err);
  const SafeTensors saved(checkpoint_of(run.folder / "whole", 12) / "model.safetensors");
  CHECK(saved.tensors().size() == 4);
  CHECK(saved.find("trf_blocks.0.att.W_query.lora.A") != nullptr);

  // Resumed from the middle.
  REQUIRE(run.train("part", {"--set", "train.steps=6"}).exit_code == 0);
  succeeded({"train", "--resume", run.path("part"), "--set", "train.steps=12"});
  CHECK(weights_in(run.folder / "part", "step-000012") ==
        weights_in(run.folder / "whole", "step-000012"));

  // With other numbers of threads.
  for (const std::string threads : {"1", "3"}) {
    REQUIRE(run.train("on" + threads, {"--threads", threads}).exit_code == 0);
    CHECK(weights_in(run.folder / ("on" + threads), "step-000012") ==
          weights_in(run.folder / "whole", "step-000012"));
  }

  // The same, with all weights in the checkpoint, and merged by eval.
  REQUIRE(run.train("full", {"--set", "checkpoint.full=true"}).exit_code == 0);
  const std::string found = succeeded({"eval", run.path("whole")}).out;
  CHECK(!line_with(found, "val loss").empty());
  CHECK(line_with(found, "val loss") ==
        line_with(succeeded({"eval", run.path("full")}).out, "val loss"));
  const SafeTensors base(checkpoint_of(run.folder / "base", 12) / "model.safetensors");
  const SafeTensors full(checkpoint_of(run.folder / "full", 12) / "model.safetensors");
  CHECK(full.tensors().size() == base.tensors().size() + 4);
  for (const TensorInfo& each : base.tensors()) {
    CHECK_MESSAGE(base.bytes(each.name) == full.bytes(each.name), each.name);
  }
}

TEST_CASE("lora: a base that has changed is refused, and so is one that is gone") {
  const LoraRun run;
  REQUIRE(run.train("lora").exit_code == 0);
  succeeded({"train", "--resume", run.path("base"), "--set", "train.steps=13"});
  const ProgramResult changed = run_heed({"eval", run.path("lora")});
  CHECK(changed.exit_code == 1);
  CHECK_MESSAGE(contains(changed.err, "model.safetensors: changed: expected fingerprint"),
                changed.err);
  fs::remove_all(run.folder / "base");
  const ProgramResult gone = run_heed({"generate", run.path("lora"), "--prompt", "E"});
  CHECK(gone.exit_code == 1);
  CHECK_MESSAGE(contains(gone.err, "base: expected a run folder"), gone.err);
}

TEST_CASE("lora: weights that stay as they are drawn, and weights that were trained with it") {
  const LoraRun run;
  const auto plan = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"validate", run.config(), "--set", "train.lora={rank: 2}"};
    words.insert(words.end(), more.begin(), more.end());
    return succeeded(words).out;
  };
  const std::string no_base = "train.lora adds to weights that stay as they are drawn";
  CHECK(contains(plan({}), no_base));
  CHECK(!contains(plan({"--set", "train.weights=" + run.path("base")}), no_base));
  REQUIRE(run.train("lora").exit_code == 0);
  const ProgramResult onto =
      run_heed({"train", run.config(), "--out", run.path("onto"), "--weights", run.path("lora")});
  CHECK(onto.exit_code == 2);
  CHECK_MESSAGE(contains(onto.err, "was trained with train.lora, which is not in the weights"),
                onto.err);
  if (has_command("layers")) {
    const std::string fields = succeeded({"layers", "lora"}).out;
    CHECK_MESSAGE(contains(fields, "targets"), fields);
  }
  const ProgramResult unlike = run.train("x", {"--set", "model.d_model=24"});
  CHECK(unlike.exit_code == 2);
  CHECK_MESSAGE(contains(unlike.err, "these are not the weights of this model"), unlike.err);
}
