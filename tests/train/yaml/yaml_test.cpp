#include "train/yaml/yaml.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "autograd/base/error.h"
#include "tests/support/temp_dir.h"

using namespace heed;

namespace {

std::string message_of(const std::string& yaml) {
  try {
    parse_config(yaml, "c.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

struct YamlCase {
  std::string text;
  std::string message;
};

std::string repeated(const std::string& text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) {
    out += text;
  }
  return out;
}

}  // namespace

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

TEST_CASE("yaml: what is refused, and how it is said") {
  const std::vector<YamlCase> cases = {
      {"", "c.yaml:1:1: the config is empty; it needs at least a model: section"},
      {"# only a comment\n", "c.yaml:1:1: the config is empty; it needs at least a model: section"},
      {"---\n...\n", "c.yaml:1:1: the config is empty; it needs at least a model: section"},
      {"seed:123\n",
       "c.yaml:1:1: expected keys with values, such as `seed: 123`, got seed:123; there must be a "
       "space after the colon"},
      {"- a\n", "c.yaml:1:1: expected keys with values, such as `seed: 123`, got a list"},
      {"a: 1\nb: 2\na: 3\n",
       "c.yaml:3:1: a: this key is given twice, on line 1 and on line 3; remove one"},
      {"m: {x: 1, 'x': 2}\n",
       "c.yaml:1:11: m.x: this key is given twice, on line 1 and on line 1; remove one"},
      {"a: &x 1\n", "c.yaml:1:4: a: anchors (&name) are not allowed"},
      {"a: &x 1\nb: *x\n",
       "c.yaml:1:4: a: anchors (&name) are not allowed\n"
       "c.yaml:2:4: b: aliases (*name) are not allowed; write the value out"},
      {"a: &x [*x]\n",
       "c.yaml:1:4: a: anchors (&name) are not allowed\n"
       "c.yaml:1:8: a.0: aliases (*name) are not allowed; write the value out"},
      {"a: *x\n",
       "c.yaml:1:4: aliases (*name) are not allowed; put text that begins with * in quotes"},
      {"a: !!int 3\n", "c.yaml:1:4: a: tags (!name) are not allowed"},
      {"m:\n  a: 1\n  !t b: 2\n", "c.yaml:3:3: m: tags (!name) are not allowed"},
      {"a: ! 12\n", "c.yaml:1:4: a: tags (!name) are not allowed"},
      {"a: !x {b: 1}\n", "c.yaml:1:4: a: tags (!name) are not allowed"},
      {"a: !!python/object:os.system [x]\n", "c.yaml:1:4: a: tags (!name) are not allowed"},
      {"a: !x !y 1\n", "c.yaml:1:7: tags (!name) and anchors (&name) are not allowed"},
      {"<<: {a: 1}\n", "c.yaml:1:1: <<: merge keys (<<) are not allowed; write the values out"},
      {"a: 1\n---\nb: 2\n", "c.yaml:2:1: a second document begins here; a config is one document"},
      {"- a\nb: 1\n",
       "c.yaml:2:1: this does not belong to what stands above it; check the indentation, and that "
       "lists and keys are not mixed"},
      {"%YAML 1.2\n---\na: 1\n", "c.yaml:1:1: directives (%) are not allowed"},
      {"# c\n%FOO\n---\na: 1\n", "c.yaml:2:1: directives (%) are not allowed"},
      {"a: 1\nb\n", "c.yaml:2:1: b: missing value"},
      {"a: 1\nb\nc: 2\n", "c.yaml:2:1: expected a colon after the key"},
      {"a: 1\nb:2\nc: 2\n", "c.yaml:2:1: there must be a space after the colon"},
      {"m:\n  a: 1\n   b:\n    c: 2\n",
       "c.yaml:3:4: indented further than the line above, whose key has a value already; keys that "
       "belong together begin in the same column"},
      {"m: {a: 1,\n  b: c: 2}\n",
       "c.yaml:2:7: expected a comma, or the } for the bracket on line 1, column 4"},
      {"a: b: c\n",
       "c.yaml:1:5: a colon that does not belong here; look for a key without its colon or wrong "
       "indentation above, or put text that contains a colon in quotes"},
      {": 3\n", "c.yaml:1:1: expected a key before the colon, got nothing"},
      {"~: 3\n", "c.yaml:1:1: expected a key before the colon, got nothing"},
      {"? [a]\n: 1\n", "c.yaml:1:3: expected a key, got a list or a map; a key is one word"},
      {"{{a: 1}: 2}\n", "c.yaml:1:2: expected a key, got a list or a map; a key is one word"},
      {"a: [1, 2\nb: 3\n",
       "c.yaml:2:2: expected a comma, or the ] for the bracket on line 1, column 4"},
      {"a: {x: 1\n", "c.yaml:2:1: expected a comma, or the } for the bracket on line 1, column 4"},
      {"b: 1\na: {ü: 1",
       "c.yaml:2:9: expected a comma, or the } for the bracket on line 2, column 4"},
      {"a: ]\n", "c.yaml:1:4: a closing bracket without an opening one"},
      {"a: 'x\nb: 2\n", "c.yaml:1:4: the quote ' that begins here is not closed"},
      {"a: \"x\\\"\nb: 2\n", "c.yaml:1:4: the quote \" that begins here is not closed"},
      {"a: 'x' y\n",
       "c.yaml:1:8: expected the next key or the end; look for wrong indentation or text after a "
       "value"},
      {"a:\n\tb: 1\n", "c.yaml:2:1: a tab in the indentation; indent with spaces"},
      {"a: - b\n", "c.yaml:1:4: a list that begins beside its key; begin it on the next line"},
      {"a: \"\\q\"\n",
       "c.yaml:1:7: an unknown escape: in double quotes \\ begins one; write \\\\ or /, or use "
       "single quotes"},
      {"a: \"\\ud800\"\n",
       "c.yaml:1:11: the escape is no Unicode character: \\uD800 to \\uDFFF are halves of one; "
       "write the "
       "character itself, or its code after \\U in eight digits"},
      {"a: \"\\xzz\"\n",
       "c.yaml:1:9: expected hexadecimal digits: in double quotes \\ begins an escape; write / or "
       "single quotes"},
      {"m:\n  a: 1\n  b:4\nc: 2\n", "c.yaml:3:3: expected a colon and a space after the key: b: 4"},
      {"m:\n  a: 1\n  b:4  # four\nc: 2\n",
       "c.yaml:3:3: expected a colon and a space after the key: b: 4"},
      {"m:\n  a: 1\n  b = 4\nc: 2\n",
       "c.yaml:3:3: expected a colon and a space after the key: b: 4"},
      {"m:\n  a: 1\n b: 2\n",
       "c.yaml:3:2: indented by 1, the line above by 2; keys that belong together begin in the "
       "same "
       "column"},
      {"a:\u00a01\n",
       "c.yaml:1:3: a no-break space (U+00A0) next to a colon or a key; type a space in its place, "
       "or \\_ in double quotes"},
      {"a: 1\n\u00a0b: 1\n",
       "c.yaml:2:1: a no-break space (U+00A0) next to a colon or a key; type a space in its place, "
       "or \\_ in double quotes"},
      {"a: >5x\n",
       "c.yaml:1:6: after | or > the text begins on the next line; put text that begins with > in "
       "quotes"},
      {"a: @x\n", "c.yaml:1:4: a character that no value begins with; put the text in quotes"},
      {"a: 1\nb: \xC3\x28\n", "c.yaml:2:4: the byte 0xC3 is not UTF-8; save the file as UTF-8"},
      {"a: \xC0\x80\n", "c.yaml:1:4: the byte 0xC0 is not UTF-8; save the file as UTF-8"},
      {"a: \xED\xA0\x80\n", "c.yaml:1:4: the byte 0xED is not UTF-8; save the file as UTF-8"},
      {"a: \xF4\x90\x80\x80\n", "c.yaml:1:4: the byte 0xF4 is not UTF-8; save the file as UTF-8"},
      {std::string("\xFF\xFE") + "a",
       "c.yaml:1:1: the byte 0xFF is not UTF-8; save the file as UTF-8"},
      {std::string("a: ä\nb: x\0y\n", 13), "c.yaml:2:5: a NUL byte; a config is a text file"},
      {"a: x\ay\n", "c.yaml:1:5: the control character 0x07; write \"\\x07\" in double quotes"},
      {"a: 1\rb: 2\n",
       "c.yaml:1:5: a carriage return alone, the line end of old Macs; save the file with "
       "newlines"},
      {"a: " + repeated("[", 17) + repeated("]", 17) + "\n",
       "c.yaml:1:19: nested more than 16 levels deep"},
      {"a: " + repeated("[", 10000) + "\n", "c.yaml:1:104: nested too deep, more than 16 levels"},
      {repeated("- ", 10000) + "\n", "c.yaml:1:1: nested too deep, more than 16 levels"},
      {"a: 1\n" + repeated("#\n", 20000), "c.yaml:20001:1: the config has more than 20000 lines"},
      {repeated("x", (1 << 20) + 1), "c.yaml:1:1: the config is larger than 1 MiB"},
      {repeated("k", 201) + ": 1\n", "c.yaml:1:1: a key of 201 bytes; at most 200"},
      {"a: [" + repeated("1,", 10001) + "]\n", "c.yaml:1:20001: more than 10000 values"},
  };
  int compared = 0;
  for (const YamlCase& test : cases) {
    CAPTURE(test.text.substr(0, 100));
    CHECK(message_of(test.text) == test.message);
    ++compared;
  }
  CHECK(compared >= 55);
}

TEST_CASE("yaml: the escapes of YAML 1.2 are characters in UTF-8") {
  const ConfigNode node = parse_config("a: \"\\N\\_\\L\\P\\xA0\\u00e9\\e\\/\"\n", "c.yaml");
  CHECK(node.get("a").text() == "\u0085\u00A0\u2028\u2029\u00A0\u00E9\x1B/");
  CHECK(parse_config(to_yaml(node), "again.yaml") == node);
}

TEST_CASE("yaml: several mistakes come out together") {
  CHECK(message_of("a: 1\na: !t 2\nb\n") ==
        "c.yaml:2:1: a: this key is given twice, on line 1 and on line 2; remove one\n"
        "c.yaml:2:4: a: tags (!name) are not allowed\n"
        "c.yaml:3:1: b: missing value");
  ConfigErrors errors;
  const ConfigNode root = parse_config("a: 1\na: 2\n", "c.yaml", errors);
  CHECK(errors.count() == 1);
  CHECK(root.get("a").text() == "1");
}

TEST_CASE("yaml: accepted at the limits") {
  const std::vector<std::string> texts = {
      "a: " + repeated("[", 15) + repeated("]", 15) + "\n",
      repeated("k", 200) + ": 1\n",
      "a: " + repeated("x", (1 << 20) - 4) + "\n",
      "a: \"" + repeated("[", 99) + "\"\n",
      "a: \"tab\there, don't, {x}\" # '\n",
      "a: don't\nb: x'y\"z\n",
      "a: |\n  'not closed \"\n",
      "---\na: 1\n...\n",
      "a: \"\\x07\\0\\u00e9\\U0001F600\"\n",
      "a: 1\r\nb: 2\r\n",
      "? a\n: 1\n",
  };
  for (const std::string& text : texts) {
    CAPTURE(text.substr(0, 60));
    CHECK(message_of(text) == "accepted");
  }
}

// The position in a message shows where reading stopped: depth and lines are checked before
// parsing. Errors of the parser itself (`expected ...`, aliases, quotes) may come after reading
// everything.
TEST_CASE("yaml: hostile texts are refused where they become hostile") {
  const std::string deep = "nested too deep, more than 16 levels",
                    tall = "c.yaml:20001:1: the config has more than 20000 lines",
                    stray =
                        "this does not belong to what stands above it; check the indentation, "
                        "and that lists and keys are not mixed";
  const std::vector<YamlCase> parts = {
      {"[", "c.yaml:1:101: " + deep},
      {"{", "c.yaml:1:101: " + deep},
      {"- ", "c.yaml:1:1: " + deep},
      {"? ", "c.yaml:1:1: " + deep},
      {": ", "c.yaml:1:1: " + deep},
      {"[a, ", "c.yaml:1:401: " + deep},
      {"{a: ", "c.yaml:1:401: " + deep},
      {"- [", "c.yaml:1:303: " + deep},
      {"a:\n ", tall},
      {"|\n", tall},
      {"[]\n", tall},
      {"-\n", tall},
      {"? a\n", tall},
      {"a\n", tall},
      {"a: ",
       "c.yaml:1:5: a colon that does not belong here; look for a key without its colon or wrong "
       "indentation above, or put text that contains a colon in quotes"},
      {"!a ", "c.yaml:1:4: tags (!name) and anchors (&name) are not allowed"},
      {"&a ", "c.yaml:1:4: tags (!name) and anchors (&name) are not allowed"},
      {"*a ", "c.yaml:1:1: aliases (*name) are not allowed; put text that begins with * in quotes"},
      {"\"", "c.yaml:1:3: " + stray},
      {"{}", "c.yaml:1:3: " + stray},
      {",", "c.yaml:1:1: " + stray},
      {"'", "c.yaml:1:1: expected keys with values, such as `seed: 123`, got the text \"" +
                repeated("'", 60) + "...\""},
      {"%", "c.yaml:1:1: directives (%) are not allowed"},
      {"]", "c.yaml:1:1: a closing bracket without an opening one"},
      {"\"\\", "c.yaml:1:1: the quote \" that begins here is not closed"}};
  for (const YamlCase& each : parts) {
    CAPTURE(each.text);
    const size_t size = (1 << 20) - 100;
    CHECK(message_of(repeated(each.text, size / each.text.size())) == each.message);
  }
  std::string stairs;
  for (size_t i = 0; i < 1400; ++i) {
    stairs += std::string(i, ' ') + "a:\n";
  }
  CHECK(message_of(stairs) == "c.yaml:101:1: nested too deep, more than 16 levels");
}

TEST_CASE("yaml: files") {
  const testing::TempDir folder;
  const std::string good = folder / "good.yaml", big = folder / "big.yaml";
  std::ofstream(good) << "seed: 1\n";
  CHECK(read_config(good).get("seed").text() == "1");
  CHECK(to_text(read_config(good).get("seed").mark()) == good + ":1:7");
  std::ofstream(big) << repeated("0123456789", 5000000);
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
  const std::vector<std::string> strings = {"",
                                            "plain",
                                            "two words",
                                            "12",
                                            "-1",
                                            "1e-3",
                                            "true",
                                            "No",
                                            "~",
                                            "null",
                                            "a: b",
                                            "a #b",
                                            "#b",
                                            "a:",
                                            "- x",
                                            "-x",
                                            "--- x",
                                            "*x",
                                            "&x",
                                            "!x",
                                            "'q'",
                                            "\"q\"",
                                            "\\",
                                            "\n",
                                            "a\nb",
                                            " x",
                                            "x ",
                                            "\tx",
                                            "[x]",
                                            "{x",
                                            "a,b",
                                            "a:\u00a0b",
                                            "a: \u00a0b",
                                            "\u00a0",
                                            "%x",
                                            "@x",
                                            "`x",
                                            "?",
                                            "? x",
                                            "|",
                                            ">",
                                            "ä",
                                            "日本",
                                            "\x01",
                                            "...",
                                            "a]b",
                                            "x\r",
                                            "<<",
                                            "a\\nb",
                                            "\xC2\x85",
                                            "\xE2\x80\xA8",
                                            ".inf",
                                            "010",
                                            "http://x",
                                            "a'b",
                                            "it's: \"x\"",
                                            "-",
                                            "--x",
                                            ":",
                                            ":x",
                                            "=",
                                            "x\xEF\xBB\xBF"};
  int compared = 0;
  for (const std::string& string : strings) {
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
  CHECK(compared == static_cast<int>(strings.size()));
  const std::string file =
      "a: 010\nb: no\nc: 'x'\nd: ~\ne: []\nf: {}\ng: [[1, 2], {x: [a b, \"y\"]}]\nh: x, y\n"
      "i: -inf\nj:\n- a: 1\n  b: 2\n- ~\n- []\nk: x\n\n  y\nl: |\n  t\n";
  const ConfigNode tree = parse_config(file, "c.yaml");
  CHECK(parse_config(to_yaml(tree), "c.yaml") == tree);
  CHECK(to_yaml(parse_config("a: {type: gpt, b: [0.9, 0.99]}\nl: [{x: 1, y: 2}]\n", "c")) ==
        "a:\n  type: gpt\n  b: [0.9, 0.99]\nl:\n  - x: 1\n    y: 2\n");
}
