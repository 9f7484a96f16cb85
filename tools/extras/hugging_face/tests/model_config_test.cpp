// config.json as the config of a gpt: what is read, what is refused by name.
#include "tools/extras/hugging_face/train/model_config.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/broken_files.h"
#include "tests/support/errors.h"
#include "tests/support/run_program.h"
#include "tools/extras/hugging_face/train/json.h"
#include "train/yaml/yaml.h"

using namespace heed;
using namespace heed::testing;

namespace {

ImportedModel model_in(const std::string& json) {
  return model_of_json(parse_json(json, "config.json"), "config.json");
}

// The lines of the model that a config.json of its type alone does not have, and those that it
// lacks; in "whole", all of its lines.
std::string read_from(const std::string& json, const std::string& setting) {
  const ImportedModel read = model_in(json);
  std::vector<std::string> usual;
  if (setting != "whole") {
    const std::string type = parse_json(json, "config.json").get("model_type").text();
    usual = lines_of(to_yaml(model_in("{\"model_type\": \"" + type + "\"}").model));
  }
  std::string said;
  const auto say = [&](const std::string& line) { said += (said.empty() ? "" : "\n") + line; };
  const std::vector<std::string> lines = lines_of(to_yaml(read.model));
  for (const std::string& line : lines) {
    if (std::count(usual.begin(), usual.end(), line) == 0) say(line);
  }
  for (const std::string& line : usual) {
    const std::string key = line.substr(0, line.find(':') + 1);
    const auto same = [&](const std::string& other) { return other.starts_with(key); };
    if (std::none_of(lines.begin(), lines.end(), same)) say("without " + line);
  }
  return said;
}

}  // namespace

TEST_CASE(
    "model_config: what is read from a config.json, and what is said of one that is refused") {
  CHECK(check_broken("hugging_face.txt", [](const BrokenFile& broken) {
          return read_from(broken.content, broken.setting);
        }) == 65);
}

// Reading all of it first took 19 s: each key was compared with all before it.
TEST_CASE("model_config: a file of very many keys is refused at the first too many") {
  std::string keys = "{\"model_type\": \"gpt2\"", list = "{\"a\": [0";
  while (keys.size() < 990'000) keys += text(", \"key ", keys.size(), "\": 1");
  while (list.size() < 990'000) list += ", [1]";
  for (const std::string& json : {keys + "}", list + "]}"}) {
    CHECK(error_of([&] { model_in(json); }) ==
          "config.json: expected at most 1000 entries in brackets, got more");
  }
}
