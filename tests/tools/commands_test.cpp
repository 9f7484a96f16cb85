// The command line and heed validate, as a user meets them.
#include <nlohmann/json.hpp>

#include "layers/module/registry.h"
#include "tests/support/json_errors.h"
#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;
using Json = nlohmann::json;

namespace {

std::string with_precision(std::string config) {
  return config.replace(config.find("PRECISION"), 9, precision_name);
}

}  // namespace

TEST_CASE("heed --help: every command; with the name of one, its options") {
  const ProgramResult all = run_heed({"--help"});
  CHECK(all.exit_code == 0);
  for (const char* command : {"train", "validate", "eval", "generate"}) {
    CHECK(lines_with(all.out, std::string("  ") + command + " ") == 1);
  }
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"generate", "--help"}, {"--help", "generate"}}) {
    const ProgramResult help = run_heed(words);
    CHECK(help.exit_code == 0);
    CHECK(help.out.find("Example:\n  heed generate") != std::string::npos);
    CHECK(lines_with(help.out, "  validate ") == 0);
  }
}

TEST_CASE("heed --help: commands in groups, from learning to extending") {
  const std::string help = run_heed({"--help"}).out;
  const size_t train = help.find("\nTrain:\n  train "), look = help.find("\nLook:\n  info ");
  const size_t apart = help.find("\nTake apart:\n  ");
  CHECK(train != help.npos);
  if (has_command("info") && has_command("gradcheck")) {
    CHECK(train < look);
    CHECK(look < apart);
    CHECK(lines_with(help, "Look:") == 1);
  }
  CHECK(!contains(help, "Subcommands"));
}

TEST_CASE("a wrong command line: one line, the word at fault and the nearest that is known") {
  const auto complaint = [](const std::vector<std::string>& words) {
    const ProgramResult result = run_heed(words);
    CHECK(result.exit_code == 2);
    CHECK(result.out == "");
    return result.err;
  };
  const std::string first = complaint({});
  CHECK(first.starts_with("heed: expected a command; to begin with:\n  heed "));
  CHECK(contains(first, "\n  heed train quickstart  "));
  CHECK(lines_with(first, "  heed ") == (has_command("tour") ? 3 : 2));
  CHECK(complaint({"trian", "x.yaml"}) == "heed: unknown command trian, did you mean train?\n");
  CHECK(complaint({"dance"}) == "heed: unknown command dance; see heed --help\n");
  CHECK(complaint({"--pulgin"}) == "heed: unknown option --pulgin, did you mean --plugin?\n");
  CHECK(complaint({"train", "x.yaml", "--dryrun"}) ==
        "heed train: unknown option --dryrun, did you mean --dry-run?\n");
  CHECK(complaint({"train", "--max-second=3"}) ==
        "heed train: unknown option --max-second, did you mean --max-seconds?\n");
  CHECK(complaint({"validate", "x.yaml", "y.yaml"}) ==
        "heed validate: unexpected argument y.yaml; see heed validate --help\n");
  CHECK(complaint({"train", "--max-seconds"}).starts_with("heed train: --max-seconds"));
  CHECK(complaint({"--plugin"}).starts_with("heed: --plugin"));
}

TEST_CASE("heed validate: a right config, mistakes, a missing file, a model that is too large") {
  const TempDir folder;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "Every effort moves you. ";
  write_text(folder / "text.txt", text);
  const std::string config = (folder / "c.yaml").string();
  write_text(config, with_precision(R"(precision: PRECISION
data: {type: text, path: text.txt}
model: {type: gpt, context_length: 8, d_model: 12, num_heads: 3, num_layers: 2}
train: {steps: 3, batch_size: 2}
)"));

  const ProgramResult right = run_heed({"validate", config});
  CHECK_MESSAGE(right.exit_code == 0, right.err);
  CHECK(lines_with(right.out, "model ") == 1);
  CHECK(lines_with(right.out, "memory ") == 1);
  CHECK(lines_with(right.out, config + ": ok") == 1);

  const ProgramResult wrong =
      run_heed({"validate", config, "--set", "model.num_heads=5", "--set", "train.stepps=9"});
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.out.empty());
  CHECK(wrong.err.find("model.num_heads: must divide d_model: d_model is 12, num_heads is 5") !=
        std::string::npos);
  CHECK(wrong.err.find("train.stepps: unknown key, did you mean steps?") != std::string::npos);

  const ProgramResult missing = run_heed({"validate", (folder / "no.yaml").string()});
  CHECK(missing.exit_code == 1);
  CHECK(missing.err.find("no.yaml") != std::string::npos);

  const ProgramResult huge = run_heed({"validate", config, "--set", "model.d_model=120000"});
  CHECK(huge.exit_code == 2);
  CHECK(huge.err.find("of memory") != std::string::npos);
  CHECK(run_heed({"validate"}).exit_code == 2);
}

TEST_CASE("heed validate --json: ok, or every mistake with its place") {
  const TempDir folder;
  const std::string config = write_config(folder);
  const ProgramResult right = run_heed({"validate", config, "--json"});
  CHECK(right.exit_code == 0);
  CHECK(Json::parse(right.out) == Json{{"ok", true}});
  const std::vector<std::string> odd = {"validate", config, "--set", "schedule.warmup_steps=50"};
  std::vector<std::string> json = odd;
  json.emplace_back("--json");
  const ProgramResult warned = run_heed(json);
  CHECK(warned.exit_code == 0);
  const Json warnings = Json::parse(warned.out)["warnings"];
  REQUIRE(warnings.size() == 1);
  CHECK(contains(run_heed(odd).out, "warning    " + warnings[0].get<std::string>() + "\n"));
  write_text(config, "seed: x\n" + std::string(small_config) + "trian: {}\n");
  const ProgramResult wrong = run_heed({"validate", config, "--json", "--set", "train.steps=0"});
  CHECK(wrong.exit_code == 2);
  const Json object = Json::parse(wrong.out);
  CHECK(object["code"] == 2);
  CHECK(object["error"].get<std::string>() + "\n" == wrong.err);
  const Json expected{{{"file", config},
                       {"line", 2},
                       {"column", 1},
                       {"path", "seed"},
                       {"message", "this key is given twice, on line 1 and on line 2; remove one"}},
                      {{"file", config},
                       {"line", 1},
                       {"column", 7},
                       {"path", "seed"},
                       {"message", "expected a whole number of at least 0, got x"}},
                      {{"file", config},
                       {"line", 7},
                       {"column", 1},
                       {"path", "trian"},
                       {"message", "unknown key, did you mean train?"}},
                      {{"file", "--set train.steps=0"},
                       {"line", 1},
                       {"column", 13},
                       {"path", "train.steps"},
                       {"message", "expected a whole number of at least 1, got 0"}}};
  CHECK(object["mistakes"].size() == expected.size());
  for (const Json& mistake : expected) {
    const bool there =
        std::count(object["mistakes"].begin(), object["mistakes"].end(), mistake) == 1;
    CHECK_MESSAGE(there, mistake.dump());
  }
}

TEST_CASE("--json: an error is one object on standard output too, in every command") {
  const TempDir folder;
  const std::string none = (folder / "none").string();
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"gradcheck", none},
                                             {"inspect", none},
                                             {"eval", none},
                                             {"validate", none},
                                             {"layers", "no_such_layer"},
                                             {"gradcheck", "linear", "--tolerance", "0x1"},
                                             {"info", "--no-such-option"}}) {
    if (has_command(words[0])) check_json_error(words);
  }
}

TEST_CASE("numbers on the command line are those of a config") {
  struct Number {
    std::string option, value, message;
  };
  const std::string whole = "expected a whole number, got ", number = "expected a number, got ";
  for (const Number& each : std::vector<Number>{
           {"--seed", "0123", whole + "0123; write it without leading zeros: 123"},
           {"--seed", "0x10", whole + "0x10; write it in decimals: 16"},
           {"--tokens", "1e3", whole + "1e3; write 1000"},
           {"--tokens", "ten", whole + "ten"},
           {"--top-k", "010", whole + "010; write it without leading zeros: 10"},
           {"--temperature", "0,5",
            number + "0,5; decimals begin with a point, and nothing separates thousands"},
           {"--top-p", "0x1p-1", number + "0x1p-1; write it in decimals"},
           {"--temperature", "nan", number + "nan"}}) {
    const ProgramResult result = run_heed({"generate", "none", each.option, each.value});
    CHECK(result.exit_code == 2);
    CHECK(result.err ==
          "heed generate: " + each.option + ": " + each.message + "; see heed generate --help\n");
  }
  for (const char* value : {"7", "+7", "0"}) {  // refused for the folder, not for the number
    CHECK(run_heed({"generate", "none", "--seed", value}).exit_code == 1);
  }
}

TEST_CASE("heed generate: options out of range") {
  struct Wrong {
    std::vector<std::string> options;
    std::string message;
  };
  for (const Wrong& each :
       std::vector<Wrong>{{{"--tokens", "0"}, "--tokens of at least 1, got 0"},
                          {{"--temperature", "-1"}, "--temperature of at least 0, got -1"},
                          {{"--top-k", "0"}, "--top-k of at least 1, got 0"},
                          {{"--top-p", "0"}, "--top-p above 0 and at most 1, got 0"},
                          {{"--top-p", "1.5"}, "--top-p above 0 and at most 1, got 1.5"},
                          {{"--min-p", "-0.5"}, "--min-p from 0 to 1, got -0.5"},
                          {{"--min-p", "2"}, "--min-p from 0 to 1, got 2"},
                          {{"--repetition-penalty", "0"}, "--repetition-penalty above 0, got 0"},
                          {{"--samples", "0"}, "--samples of at least 1, got 0"},
                          {{"--stop", ".", "--stop", ""}, "--stop with a text, got nothing"},
                          {{"--stop", ".", "--ids", "1,2"}, "--stop with --prompt, got --ids"},
                          {{"--seed", "-1"}, "--seed of at least 0, got -1"}}) {
    std::vector<std::string> words{"generate", "none"};
    words.insert(words.end(), each.options.begin(), each.options.end());
    const ProgramResult result = run_heed(words);
    CHECK(result.exit_code == 2);
    CHECK(result.err == "heed generate: expected " + each.message + "\n");
  }
}
