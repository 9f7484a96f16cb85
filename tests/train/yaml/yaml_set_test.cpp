// heed train CONFIG --set a.b=c.
#include "train/yaml/yaml_set.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "autograd/base/error.h"
#include "train/yaml/yaml.h"

using namespace heed;

namespace {

struct SetCase {
  std::string text;
  std::string message;
};

std::string set_message(const std::string& argument, const std::string& yaml) {
  ConfigNode root = parse_config(yaml, "c.yaml");
  ConfigErrors errors;
  apply_set(root, argument, errors);
  return errors.empty() ? to_yaml(root) : std::string(errors.exception().what());
}

}  // namespace

// What else is refused is in tests/messages/texts/sets.yaml.
TEST_CASE("yaml: --set") {
  const std::string yaml = "model: {d: 4}\nlayers: [{w: 1}, {w: 2}]\nempty:\n";
  const std::string rest = "layers:\n  - w: 1\n  - w: 2\nempty: ~\n";
  const std::vector<SetCase> cases = {
      {"model.d=8", "model:\n  d: 8\n" + rest},
      {"model.e=[0.9, 0.99]", "model:\n  d: 4\n  e: [0.9, 0.99]\n" + rest},
      {"train.x.y='a b'", "model:\n  d: 4\n" + rest + "train:\n  x:\n    y: \"a b\"\n"},
      {"layers.1.w=3", "model:\n  d: 4\nlayers:\n  - w: 1\n  - w: 3\nempty: ~\n"},
      {"layers.0=5", "model:\n  d: 4\nlayers:\n  - 5\n  - w: 2\nempty: ~\n"},
      {"empty.x=1", "model:\n  d: 4\nlayers:\n  - w: 1\n  - w: 2\nempty:\n  x: 1\n"},
      {"model={d: 1, e: 2}", "model:\n  d: 1\n  e: 2\n" + rest},
      {"model.d=a=b", "model:\n  d: a=b\n" + rest},
      {"model.d=", "model:\n  d: ~\n" + rest},
      {"model.d=\xff",
       "--set model.d=\\xff:1:9: the byte 0xFF is not UTF-8; save the file as UTF-8"},
  };
  int compared = 0;
  for (const SetCase& test : cases) {
    CAPTURE(test.text);
    CHECK(set_message(test.text, yaml) == test.message);
    ++compared;
  }
  CHECK(compared == static_cast<int>(cases.size()));
}

TEST_CASE("yaml: --set keeps its place and path") {
  ConfigNode root = parse_config("model: {d: 4}\n", "c.yaml");
  ConfigErrors errors;
  apply_set(root, "model.d_modle=3", errors);
  apply_set(root, "train={steps: 5}", errors);
  CHECK(errors.empty());
  const ConfigNode& wrong = root.get("model").get("d_modle");
  CHECK(wrong.path() == "model.d_modle");
  CHECK(to_text(wrong.mark()) == "--set model.d_modle=3:1:15");
  CHECK(to_text(wrong.key_mark()) == "--set model.d_modle=3:1:7");
  CHECK(root.get("train").get("steps").path() == "train.steps");
  CHECK(to_text(root.get("train").get("steps").key_mark()) == "--set train={steps: 5}:1:8");
}
