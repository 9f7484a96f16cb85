// heed data: what a task gives a model and expects of it, in words and ids.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/json_errors.h"
#include "tests/support/run_program.h"
#include "tests/support/source_tree.h"

using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

fs::path config(const std::string& name) { return house::root() / "configs" / (name + ".yaml"); }

nlohmann::json data_in(const fs::path& file, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"data", file.string(), "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProgramResult result = run_heed(arguments);
  REQUIRE_MESSAGE(result.exit_code == 0, result.err);
  return nlohmann::json::parse(result.out);
}

nlohmann::json data_of(const std::string& name, const std::vector<std::string>& more = {}) {
  return data_in(config(name), more);
}

}  // namespace

TEST_CASE("heed data: a sequence to read and one to write in words and ids, both sides") {
  const nlohmann::json data =
      data_of("wings/translation/reverse", {"--examples", "2", "--vocabulary"});
  REQUIRE(data.at("examples").size() == 4);
  for (const nlohmann::json& example : data.at("examples")) {
    const std::string answer = example.at("answer");
    CHECK(example.at("given") == "<start> " + answer.substr(0, answer.rfind(" <end>")));
    CHECK(example.at("ids").size() == example.at("targets").size());
    CHECK(example.at("source").get<std::string>().ends_with("<end>"));
    const size_t first = example.at("targets").at(0);
    CHECK(answer.starts_with(data.at("vocabulary").at(first).get<std::string>() + " "));
  }
  CHECK(data.at("vocabulary").size() == data.at("vocab_size"));
  CHECK(data.at("source_vocabulary").size() == data.at("source_vocab_size"));
}

TEST_CASE("heed data: a class by its name, tokens that are asked for, running text") {
  const nlohmann::json classes = data_of("wings/sentences/negation");
  CHECK(classes.at("examples").size() == 6);
  for (const nlohmann::json& example : classes.at("examples")) {
    CHECK(example.at("answer") == (example.at("targets").at(0) == 1 ? "positive" : "negative"));
  }
  CHECK(data_of("wings/sentences/six_words").at("examples").at(0).at("answer") ==
        "journey starts with one step <end>");
  const nlohmann::json text = data_of("quickstart", {"--examples", "1"}).at("examples").at(0);
  CHECK(text.at("given").get<std::string>().starts_with("First Citizen:\nBefore we"));
  CHECK(text.at("answer").get<std::string>().starts_with("irst Citizen:\nBefore we"));
}

TEST_CASE("heed data: every config that is shipped") {
  int64_t seen = 0;
  for (const fs::path& config : house::shipped_configs()) {
    CAPTURE(config);
    const nlohmann::json data = data_in(config, {"--examples", "1"});
    CHECK(data.at("train_examples").get<int64_t>() + data.at("val_examples").get<int64_t>() > 0);
    CHECK(!data.at("examples").empty());
    ++seen;
  }
  CHECK(seen >= 15);
}

TEST_CASE("heed data: an error is one object on standard output too") {
  check_json_error({"data", "no_such_config.yaml"});
}

TEST_CASE("heed data: as a table, and what is wrong") {
  const ProgramResult table =
      run_heed({"data", config("wings/sentences/negation").string(), "--vocabulary"});
  CHECK(table.exit_code == 0);
  for (const char* part : {"fixed validation examples  2,000", "\ntraining example 2\n",
                           "  answer  ", "vocabulary, 52 tokens", "<class>"}) {
    CHECK_MESSAGE(table.out.find(part) != std::string::npos, part);
  }
  CHECK(run_heed({"data", config("wings/sentences/negation").string(), "--examples", "-1"})
            .exit_code == 2);
  CHECK(run_heed({"data", config("no_such").string()}).exit_code == 1);
}
