// heed probe as a user runs it: its JSON, what it prints, and what it refuses.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "autograd/base/error.h"
#include "autograd/base/real.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

using namespace heed;
using namespace heed::testing;
using ProbeJson = nlohmann::ordered_json;

namespace {

const char* const inducing =
    "data: {type: induction, length: 12, symbols: 8}\n"
    "model: {type: gpt, d_model: 8, num_heads: 2, num_layers: 2, feed_forward: none}\n"
    "train: {steps: 4, batch_size: 4}\n";

// A run of this config in `folder`, with eval: and so on as `more`.
std::string run_of(const TempDir& folder, const std::string& config, const std::string& more = "") {
  const std::string path = (folder / "c.yaml").string(), run = (folder / "run").string();
  write_text(path, text("precision: ", precision_name, "\n", config, more));
  const ProgramResult trained = run_heed({"train", path, "--out", run});
  REQUIRE_MESSAGE(trained.exit_code == 0, trained.err);
  return run;
}

ProbeJson json_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "probe");
  arguments.emplace_back("--json");
  const ProgramResult done = run_heed(arguments);
  REQUIRE_MESSAGE(done.exit_code == 0, done.err);
  return ProbeJson::parse(done.out);
}

std::string keys_of(const ProbeJson& object) {
  std::string keys;
  for (const auto& item : object.items()) keys += item.key() + " ";
  return keys;
}

// The message of a command that ends with exit code 2.
std::string refused(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "probe");
  const ProgramResult done = run_heed(arguments);
  CHECK(done.exit_code == 2);
  CHECK(done.out.empty());
  return done.err.substr(0, done.err.find('\n'));
}

}  // namespace

TEST_CASE("heed probe --json: names and shapes") {
  const TempDir folder;
  const std::string run = run_of(folder, inducing);
  const ProbeJson heads = json_of({run, "heads"});
  CHECK(keys_of(heads) == "repeat sequences heads ");
  CHECK(heads["repeat"] == 6);
  CHECK(heads["sequences"].size() == 8);
  CHECK(heads["sequences"][0].size() == 12);
  CHECK(heads["heads"].size() == 4);
  CHECK(keys_of(heads["heads"][3]) ==
        "layer block head previous_token duplicate_token induction first_token entropy ");
  CHECK(heads["heads"][3]["layer"] == "trf_blocks.1.att");
  CHECK(heads["heads"][3]["block"] == 1);
  CHECK(heads["heads"][3]["head"] == 1);
  CHECK(heads == json_of({run, "heads"}));
  CHECK(heads != json_of({run, "heads", "--seed", "7"}));
  CHECK(json_of({run, "heads", "--repeat", "3", "--sequences", "2"})["sequences"][1].size() == 6);
  const ProbeJson examples = json_of({run, "heads", "--examples", "3"});
  CHECK(examples["repeat"].is_null());
  CHECK(examples["sequences"].size() == 3);

  const ProbeJson lens = json_of({run, "lens", "--prompt", "1 2 3 1"});
  CHECK(lens["tokens"] == ProbeJson{"1", "2", "3", "1"});
  REQUIRE(lens["blocks"].size() == 3);
  CHECK(keys_of(lens["blocks"][0][0]) == "id token probability rank ");
  CHECK(keys_of(lens["blocks"][2][3]) == "id token probability ");

  const ProbeJson ablated = json_of({run, "ablate", "--batches", "2"});
  CHECK(keys_of(ablated) == "loss accuracy parts ");
  REQUIRE(ablated["parts"].size() == 6);
  CHECK(keys_of(ablated["parts"][0]) == "part head loss accuracy ");
  CHECK(json_of({run, "ablate"})["loss"] ==
        ProbeJson::parse(run_heed({"eval", run, "--json"}).out)["val_loss"]);
  CHECK(json_of({run, "ablate", "--what", "mean"})["parts"].size() == 6);

  const ProbeJson patched = json_of({run, "patch", "--clean", "1 2 3 1", "--corrupt", "1 5 3 1",
                                     "--answer", "2", "--wrong", "5"});
  CHECK(keys_of(patched) == "clean corrupt residual attention feed_forward heads ");
  CHECK(patched["residual"].size() == 2);
  CHECK(patched["residual"][1][3] == 1);
  CHECK(patched["feed_forward"] == ProbeJson::parse("[[],[]]"));
  CHECK(patched["heads"][0].size() == 2);

  const std::vector<std::string> write{run, "write", "--ids", "1,2,3,1", "--answer", "2"};
  const ProbeJson written = json_of(write);
  CHECK(keys_of(written) == "logit parts ");
  REQUIRE(written["parts"].size() == 2 + 2 * 3 + 1);
  CHECK(keys_of(written["parts"][0]) == "part block head value ");
  CHECK(written["parts"][1]["part"] == "position");
  CHECK(written["parts"][1]["block"].is_null());
  CHECK(written["parts"][6]["part"] == "head");
  CHECK(written["parts"][6]["block"] == 1);
  CHECK(written["parts"][6]["head"] == 1);
  double sum = 0;
  for (const ProbeJson& part : written["parts"]) sum += part["value"].get<double>();
  CHECK(sum == doctest::Approx(written["logit"].get<double>()).epsilon(1e-4));
  CHECK(written == json_of({run, "write", "--prompt", "1 2 3 1", "--answer", "2"}));
  CHECK(json_of({run, "write", "--prompt", "1 2 3 1", "--answer", "2", "--wrong", "5"})["logit"] ==
        patched["clean"]);
}

TEST_CASE("heed probe: tables in words") {
  const TempDir folder;
  const std::string run = run_of(folder, inducing);
  const std::string heads = run_heed({"probe", run, "heads"}).out;
  CHECK(heads.starts_with("8 sequences of 6 random tokens, repeated; means of the attention "));
  CHECK(contains(heads, "\nblock 1 head 1:  nothing stands out"));
  CHECK(contains(run_heed({"probe", run, "lens", "--prompt", "1 2 3"}).out, "\n   embeddings  "));
  const std::string ablated = run_heed({"probe", run, "ablate", "--batches", "1"}).out;
  CHECK(contains(ablated, "\n(the whole model)"));
  CHECK(contains(ablated, "\ntrf_blocks.1.att head 1"));
  const std::string patched = run_heed({"probe", run, "patch", "--clean", "1 2 3 1", "--corrupt",
                                        "1 5 3 1", "--answer", "2"})
                                  .out;
  CHECK(contains(patched, "\n2 (5)"));
  CHECK(!contains(patched, "feed-forward"));
  CHECK(!contains(patched, "\x1b["));  // no terminal: no colours
  const std::string written =
      run_heed({"probe", run, "write", "--prompt", "1 2 3 1", "--answer", "2", "--wrong", "5"}).out;
  CHECK(written.starts_with("The logit of [2], minus that of [5], at the last position is a sum:"));
  for (const char* line : {"\nembedding ", "\nall heads ", "\nlogit ",
                           "\n          block 0  block 1\n", "\nhead 1 ", "\nout bias "}) {
    CHECK_MESSAGE(contains(written, line), written);
  }
}

TEST_CASE("heed probe --html: a page with the result") {
  const TempDir folder;
  const std::string run = run_of(folder, inducing), page = (folder / "page.html").string();
  const std::vector<std::string> patch{"--clean", "1 2 3 1",  "--corrupt",
                                       "1 5 3 1", "--answer", "2"};
  for (const auto& [probe, options] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"heads", {}},
           {"lens", {"--prompt", "1 2"}},
           {"ablate", {}},
           {"patch", patch},
           {"write", {"--prompt", "1 2", "--answer", "3"}}}) {
    std::vector<std::string> arguments{"probe", run, probe, "--html", page};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ProgramResult done = run_heed(arguments);
    REQUIRE_MESSAGE(done.exit_code == 0, done.err);
    CHECK(done.out == page + "\n");
    const std::string html = read_text(page);
    const std::string begin = "<script type=\"application/json\" id=\"data\">\n";
    const size_t at = html.find(begin) + begin.size();
    const ProbeJson data = ProbeJson::parse(html.substr(at, html.find("\n</script>", at) - at));
    CHECK(data["probe"] == probe);
    CHECK(data["run"] == "run");
    CHECK(data["step"] == 4);
    CHECK(data["result"].is_object());
    CHECK(data.contains("corrupt") == (probe == "patch"));
  }
  CHECK(refused({run, "heads", "--html", run + "/report.html"})
            .ends_with("is among the files that a run keeps for itself; give another name"));
}

TEST_CASE("heed probe: wrong use") {
  const TempDir folder;
  const std::string run = run_of(folder, inducing);
  const std::vector<std::string> patch{run, "patch", "--clean", "1 2 3 1", "--corrupt"};
  const auto patched = [&](std::vector<std::string> rest) {
    rest.insert(rest.begin(), patch.begin(), patch.end());
    return refused(rest);
  };
  CHECK(patched({"1 2 3", "--answer", "2"}) ==
        "heed probe: patch: expected prompts of the same length, got 4 tokens, [1][2][3][1], and "
        "3, [1][2][3]");
  CHECK(patched({"1 5 3 1", "--answer", "2 3"}) ==
        "heed probe: --answer: expected one token, got 2: [2][3]");
  CHECK(patched({"1 5 3 1", "--answer", "9"})
            .starts_with("heed probe: --answer: the word 9 (word 1 of the text) is not in"));
  CHECK(patched({"1 5 3 1", "--answer", "2", "--wrong", "2"}) ==
        "heed probe: --wrong: expected another token than --answer");
  CHECK(patched({"1 5 3 1"}) == "heed probe: patch needs --answer, the token that answers --clean");
  CHECK(patched({"1 2 3 1", "--answer", "2"}).ends_with("for both: there is nothing to restore"));
  CHECK(refused({run, "head"}) ==
        "heed probe: expected heads, lens, ablate, patch or write, got head");
  CHECK(refused({run, "heads", "--prompt", "1"}) ==
        "heed probe: --prompt is an option of lens and write, not of heads");
  CHECK(refused({run, "write", "--prompt", "1"}) ==
        "heed probe: write needs --answer, the token whose logit is taken apart");
  CHECK(refused({run, "write", "--prompt", "1", "--answer", "2", "--wrong", "2"}) ==
        "heed probe: --wrong: expected another token than --answer");
  CHECK(refused({run, "lens"}) == "heed probe: lens needs --prompt, the text to read");
  CHECK(refused({run, "lens", "--prompt", "1 99"})
            .starts_with("heed probe: --prompt: the word 99 (word 2"));
  CHECK(refused({run, "ablate", "--what", "half"}) ==
        "heed probe: expected --what zero or mean, got half");
  CHECK(refused({run, "ablate", "--batches", "0"}) ==
        "heed probe: expected --batches at least 1, got 0");
  CHECK(refused({run, "heads", "--seed", "-3"}) ==
        "heed probe: expected --seed at least 0, got -3");
  CHECK(refused({run, "heads", "--examples", "2", "--repeat", "3"})
            .starts_with("heed probe: --examples takes no random tokens"));
  CHECK(refused({run, "heads", "--examples", "100000"})
            .starts_with("heed probe: expected --examples at most "));
}

TEST_CASE("heed probe: of a classifier the answer is a class; models without heads") {
  const TempDir folder;
  const std::string negation =
      "data: {type: negation}\nmodel: {type: classifier, d_model: 8, num_heads: 2, num_layers: 1}\n"
      "train: {steps: 2, batch_size: 4}\n";
  const std::string run = run_of(folder, negation);
  CHECK(json_of({run, "patch", "--clean", "Attention is not shabby", "--corrupt",
                 "Attention is very shabby", "--answer", "positive", "--wrong", "negative"})
            .contains("residual"));
  CHECK(refused({run, "patch", "--clean", "Attention is not shabby", "--corrupt",
                 "Attention is very shabby", "--answer", "shabby"}) ==
        "heed probe: --answer: expected a class, negative, positive, got shabby");
  CHECK(json_of({run, "heads", "--examples", "5"})["heads"].size() == 2);
  CHECK(contains(refused({run, "heads"}),
                 "answers with a class: repeated random tokens mean nothing"
                 " to it; --examples "));
  CHECK(refused({run, "lens", "--prompt", "Attention is very shabby"})
            .starts_with("heed probe: lens: expected a model that names a token at each position"));
  CHECK(
      refused({run, "write", "--prompt", "Attention is very shabby", "--answer", "positive"})
          .starts_with("heed probe: write: expected a model that names a token at each position"));

  const TempDir other;
  const std::string bag = run_of(other,
                                 "data: {type: negation}\nmodel: {type: classifier, d_model: 8, "
                                 "num_layers: 0}\ntrain: {steps: 2, batch_size: 4}\n");
  CHECK(
      refused({bag, "heads"}).starts_with("heed probe: heads: expected a model with transformer"));
}

TEST_CASE("eval.probe: heads over training, in the report; refused where there are none") {
  const TempDir folder;
  const std::string run = run_of(folder, inducing, "eval: {every: 2, batches: 1, probe: heads}\n");
  const ProbeJson record = ProbeJson::parse(read_text(folder / "run" / "report.json"));
  REQUIRE(record["heads"].size() == 3);  // before training, after 2 and 4 steps
  CHECK(record["heads"][2]["step"] == 4);
  CHECK(record["heads"][2]["heads"][1]["name"] == "block 0 head 1");
  const ProbeJson now = json_of({run, "heads"})["heads"][3];
  CHECK(record["heads"][2]["heads"][3]["induction"].get<double>() ==
        doctest::Approx(now["induction"].get<double>()).epsilon(1e-9));

  write_text(folder / "none.yaml",
             text("precision: ", precision_name, "\n", inducing, "eval: {probe: heads}\n"));
  const std::string none = (folder / "none.yaml").string();
  CHECK(contains(run_heed({"validate", none}).err, "eval.probe: heads without eval.every"));
  const ProgramResult linear =
      run_heed({"validate", none, "--set", "eval.every=2", "--set",
                "model.attention={type: linear}", "--set", "model.num_heads=1"});
  CHECK(linear.exit_code == 2);
  CHECK(contains(linear.err, "eval.probe: heads: trf_blocks.0.att offers no heads"));
}

TEST_CASE("heed probe heads: weights that are no shares are refused by name") {
  const TempDir folder;
  write_text(folder / "scores.yaml",
             text("precision: ", precision_name,
                  "\ndata: {type: copy, length: 6, symbols: 6}\nmodel: {type: gpt, d_model: 8, "
                  "num_heads: 2, num_layers: 1, attention: {attention_weights: none}}\n"
                  "train: {steps: 1, batch_size: 2}\n"));
  const std::string run = (folder / "run").string();
  REQUIRE(run_heed({"train", (folder / "scores.yaml").string(), "--out", run}).exit_code == 0);
  const ProgramResult heads = run_heed({"probe", run, "heads"});
  CHECK(heads.exit_code == 2);
  CHECK(contains(heads.err, "heed probe: heads: trf_blocks.0.att has weights outside of 0 to 1"));
}
