// --ids: models without a tokenizer are asked in ids.
#include <doctest/doctest.h>

#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;

namespace {

// A run on ids that stand for no text, and its options.
std::string run_on_ids(const TempDir& folder, const std::string& config) {
  const std::string run = (folder / "run").string();
  succeeded({"train", write_config(folder, config), "--out", run});
  return run;
}

const std::string on_synthetic = R"(seed: 5
data: {type: synthetic, vocab_size: 11}
model: {type: gpt, context_length: 8, d_model: 12, num_heads: 3, num_layers: 2}
optimizer: {type: adamw, lr: 1e-2}
train: {steps: 2, batch_size: 4}
)";

}  // namespace

TEST_CASE("--ids: generate goes on from ids, and its output can be given again") {
  const TempDir folder;
  const std::string run = run_on_ids(folder, on_synthetic);
  const std::string first =
      succeeded({"generate", run, "--ids", "5,3,7", "--tokens", "2", "--temperature", "0"}).out;
  CHECK(first.starts_with("5,3,7,"));
  CHECK(std::count(first.begin(), first.end(), ',') == 4);
  const std::string both =
      succeeded({"generate", run, "--ids", "5,3,7", "--tokens", "4", "--temperature", "0"}).out;
  const std::string given = first.substr(0, first.size() - 1);
  CHECK(succeeded({"generate", run, "--ids", given, "--tokens", "2", "--temperature", "0"}).out ==
        both);
  const auto refused = [&](const std::string& ids) {
    const ProgramResult result = run_heed({"generate", run, "--ids", ids});
    CHECK(result.exit_code == 2);
    return result.err;
  };
  const std::string wants =
      "heed generate: --ids: expected ids from 0 to 10 with commas between them, as 5,17,3, got ";
  CHECK(refused("5,11") == wants + "11\n");
  CHECK(refused("5,-1") == wants + "-1\n");
  CHECK(refused("5,x") == wants + "x\n");
  CHECK(refused("5,,1") == wants + "nothing\n");
  CHECK(refused("") == wants + "nothing\n");
  CHECK(refused("1,2,3,4,5,6,7,8,9") ==
        "heed generate: --ids: expected at most 8 ids, the model's context, got 9\n");
  CHECK(run_heed({"generate", run, "--ids", "1", "--prompt", "x"}).exit_code == 2);
}

TEST_CASE("--ids: heed inspect --attention, with a tokenizer and without") {
  if (!has_command("inspect")) return;
  const TempDir folder, other;
  const std::string run = run_on_ids(folder, on_synthetic);
  const ProgramResult maps = succeeded({"inspect", run, "--attention", "--ids", "5,3,10"});
  CHECK(maps.out.starts_with("prompt  5,3,10\n"));
  CHECK(contains(maps.out, "\n10 "));
  CHECK(run_heed({"inspect", run, "--ids", "5"}).exit_code == 2);
  const std::string text_run = run_on_ids(other, small_config);
  CHECK(contains(succeeded({"inspect", text_run, "--attention", "--ids", "0,1,2"}).out, "head 0"));
}

TEST_CASE("--ids: probe and explain") {
  const TempDir folder;
  const std::string run = run_on_ids(folder, on_synthetic), page = folder / "page.html";
  if (has_command("probe")) {
    CHECK(contains(succeeded({"probe", run, "lens", "--ids", "5,3,10"}).out, "\n10  "));
    const ProgramResult patched =
        succeeded({"probe", run, "patch", "--clean", "5,3,10", "--corrupt", "5,4,10", "--answer",
                   "2", "--wrong", "1"});
    CHECK(contains(patched.out, "\n3 (4)"));
    CHECK(run_heed({"probe", run, "heads", "--ids", "5"}).exit_code == 2);
  }
  if (has_command("explain")) {
    succeeded({"explain", run, "--ids", "5,3,10", "--out", page});
    CHECK(contains(read_text(page), "5,3,10"));
  }
}
