#include "train/yaml/yaml.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "autograd/base/error.h"
#include "tests/support/temp_dir.h"

using namespace heed;

TEST_CASE("yaml: places, paths and quotes") {
  const ConfigNode root = parse_config(
      "\xEF\xBB\xBF# comment\n"
      "model:\r\n"
      "  größe: {type: gpt, name: 'it''s'}\n"
      "  lists: [0.9, \"0.99\"]\n"
      "text: |\n"
      "  a\n"
      "  b\n"
      "none: ~\n",
      "c.yaml");
  const ConfigNode& inner = root.get("model").get("größe");
  CHECK(to_text(inner.mark()) == "c.yaml:3:10");
  CHECK(to_text(inner.key_mark()) == "c.yaml:3:3");
  CHECK(inner.path() == "model.größe");
  CHECK(inner.get("type") == ConfigNode::scalar("gpt", false));
  CHECK(inner.get("name") == ConfigNode::scalar("it's", true));
  CHECK(to_text(inner.get("name").mark()) == "c.yaml:3:28");
  const ConfigNode& lists = root.get("model").get("lists");
  REQUIRE(lists.size() == 2);
  CHECK(lists.at(1).path() == "model.lists.1");
  CHECK(lists.at(1).quoted());
  CHECK_FALSE(lists.at(0).quoted());
  CHECK(root.get("text").text() == "a\nb\n");
  CHECK(root.get("none").is_null());
  CHECK(root.get("missing").is_absent());
}

TEST_CASE("yaml: the escapes of YAML 1.2 are characters in UTF-8") {
  const ConfigNode node = parse_config("a: \"\\N\\_\\L\\P\\xA0\\u00e9\\e\\/\"\n", "c.yaml");
  CHECK(node.get("a").text() == "\u0085\u00A0\u2028\u2029\u00A0\u00E9\x1B/");
  CHECK(parse_config(to_yaml(node), "again.yaml") == node);
}

// What is refused is in tests/messages/texts.
TEST_CASE("yaml: a key that is given twice has its first value") {
  ConfigErrors errors;
  const ConfigNode root = parse_config("a: 1\na: 2\n", "c.yaml", errors);
  CHECK(errors.count() == 1);
  CHECK(root.get("a").text() == "1");
}

TEST_CASE("yaml: files") {
  const testing::TempDir folder;
  const std::string good = folder / "good.yaml", big = folder / "big.yaml";
  std::ofstream(good) << "seed: 1\n";
  CHECK(read_config(good).get("seed").text() == "1");
  CHECK(to_text(read_config(good).get("seed").mark()) == good + ":1:7");
  std::ofstream(big) << std::string(50000000, '0');
  CHECK_THROWS_WITH_AS(read_config(big), (big + ":1:1: the config is larger than 1 MiB").c_str(),
                       ConfigError);
  const std::string missing = folder / "none.yaml";
  CHECK_THROWS_WITH_AS(read_config(missing),
                       ("cannot read the config " + missing + ": there is no such file").c_str(),
                       IoError);
  CHECK_THROWS_WITH_AS(read_config(folder.path()),
                       ("cannot read the config " + folder.path().string() +
                        ": it is a folder, expected a YAML file")
                           .c_str(),
                       IoError);
  CHECK_THROWS_WITH_AS(read_config("/dev/zero"),
                       "cannot read the config /dev/zero: it is not a regular file", IoError);
}

TEST_CASE("yaml: to_yaml reads back to an equal tree") {
  std::istringstream strings(  // divided by form feeds
      "\fplain\ftwo words\f12\f-1\f1e-3\ftrue\fNo\f~\fnull\fa: b\fa #b\f#b\fa:\f- x\f-x\f"
      "--- x\f*x\f&x\f!x\f'q'\f\"q\"\f\\\f\n\fa\nb\f x\fx \f\tx\f[x]\f{x\fa,b\f"
      "a:\u00a0b\fa: \u00a0b\f\u00a0\f%x\f@x\f`x\f?\f? x\f|\f>\fä\f日本\f\x01\f...\fa]b\f"
      "x\r\f<<\fa\\nb\f\xC2\x85\f\xE2\x80\xA8\f.inf\f010\fhttp://x\fa'b\fit's: \"x\"\f-\f"
      "--x\f:\f:x\f=\fx\xEF\xBB\xBF\f");
  int compared = 0;
  for (std::string string; std::getline(strings, string, '\f');) {
    CAPTURE(string);
    const ConfigNode node = ConfigNode::map(
        {{"s", string},
         {"list", ConfigNode::list({string, "x", 1})},
         {"nested", ConfigNode::map({{"deep", ConfigNode::list({ConfigNode::map({{"a", string}}),
                                                                ConfigNode::list({string})})}})}});
    CHECK(parse_config(to_yaml(node), "c.yaml") == node);
    CHECK(node.get("s").text() == string);
    if (!string.empty() && string != "<<") {
      const ConfigNode keyed = ConfigNode::map({{string, ConfigNode::map({{string, 1}})}});
      CHECK(parse_config(to_yaml(keyed), "c.yaml") == keyed);
    }
    ++compared;
  }
  CHECK(compared == 62);
  const std::string file =
      "a: 010\nb: no\nc: 'x'\nd: ~\ne: []\nf: {}\ng: [[1, 2], {x: [a b, \"y\"]}]\nh: x, y\n"
      "i: -inf\nj:\n- a: 1\n  b: 2\n- ~\n- []\nk: x\n\n  y\nl: |\n  t\n";
  const ConfigNode tree = parse_config(file, "c.yaml");
  CHECK(parse_config(to_yaml(tree), "c.yaml") == tree);
  CHECK(to_yaml(parse_config("a: {type: gpt, b: [0.9, 0.99]}\nl: [{x: 1, y: 2}]\n", "c")) ==
        "a:\n  type: gpt\n  b: [0.9, 0.99]\nl:\n  - x: 1\n    y: 2\n");
}
