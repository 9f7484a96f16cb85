// Files of instructions with mistakes in them: what is said about each.
#include "tests/train/wings/own_data/own_data_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

const char* const small_gpt = "{type: gpt, d_model: 8, num_heads: 2, num_layers: 1}";

struct BrokenInstructions {
  std::string name, bytes, message;
  std::string options = "";
};

const std::string row = R"({"instruction": "say a", "output": "a"})";

const std::vector<BrokenInstructions> broken_files{
    {"a.json", "", "a.json: expected examples, got none"},
    {"a.json", "[]", "a.json: expected examples, got none"},
    {"a.json", "[\n\n]\n", "a.json: expected examples, got none"},
    {"a.jsonl", "\n \n", "a.jsonl: expected examples, got none"},
    {"a.tsv", row + "\n",
     "a.tsv: expected a file named *.json (a list of objects) or *.jsonl (an object each line), "
     "got .tsv"},
    {"a.json", "[\n" + row + ",\n" + R"({"instruction": "b"})" + "\n]",
     "a.json:3: expected the key output, got instruction"},
    {"a.json", "[\n" + row + ",\n" + R"({"instruction": "b", "outptu": "b"})" + "\n]",
     "a.json:3: expected the key output, got instruction, outptu; did you mean outptu?"},
    {"a.json", "[" + row + ",\n{\n  \"instruction\": \"b\",\n  \"output\": 7\n}\n]",
     "a.json:2: expected text as output, got a number"},
    {"a.json", "[" + row + ", " + R"({"instruction": 1, "output": "b"})" + "]",
     "a.json:1: element 2: expected text as instruction, got a number"},
    {"a.json", "[" + row + R"(, {"instruction": "b", "input": [1], "output": "b"}])",
     "a.json:1: element 2: expected text as input, got an array"},
    {"a.json", "[" + row + "\n" + row + "]",
     "a.json:1: expected a JSON object, got an error in it at byte 41"},
    {"a.json", "[" + row + ",\n]", "a.json:2: expected a JSON object, got nothing"},
    {"a.json", "[" + row + ",\n{\"instruction\": \"b\", \"output\": \"b\"",
     "a.json:2: expected ] at the end of the list, got the end of the file"},
    {"a.json", "[" + row + ",\n{\"instruction\": \"b, \"output\": \"b\"}\n]\n",
     "a.json:2: expected ] at the end of the list, got the end of the file"},
    {"a.json", "[" + row + "]\nmore\n",
     "a.json:1: expected the end of the file after the list, got more"},
    {"a.json", "[" + row + ", \"b\"]",
     "a.json:1: element 2: expected a JSON object, got another value"},
    {"a.json", "[\n" + row + ",\n{\"instruction\": \" \", \"output\": \"b\"}]",
     "a.json:3: expected text as instruction, got blanks alone"},
    {"a.json", "[\n" + row + ",\n{\"instruction\": \"b\", \"output\": \"\"}]",
     "a.json:3: expected text as output, got nothing"},
    {"a.json", "[{\"instruction\": \"a\", \"output\": \"b\", \"output\": \"c\"}]",
     "a.json:1: expected the key output once, got it twice"},
    {"a.json", "[\n" + row + ",\n{\"instruction\": \"b\", \"output\": \"\xE9\"}]",
     "a.json:3: expected UTF-8, got the byte 0xE9 in column 33"},
    {"a.json", "[" + std::string(100'000, '['),
     "a.json:1: expected ] at the end of the list, got the end of the file"},
    {"a.json", "{\"data\": [" + row + "]}", "a.json:1: expected the key instruction, got data"},
    {"a.jsonl", row + "\n{\"instruction\": \"b\", \"output\": }\n",
     "a.jsonl:2: expected a JSON object, got an error in it at byte 32"},
    {"a.jsonl", row + "\n{\"instruction\": \"b\", \"output\": \"\\ud800\"}\n",
     "a.jsonl:2: expected a JSON object, got half of a character, \\ud800 to \\udfff alone, at "
     "byte 39"},
    {"a.jsonl", row + "\n{\"instruction\": \"b\", \"input\": \"x\", \"output\": \"b\"}\n",
     "a.jsonl:2: expected no input, as data.template has no {input}, got x",
     "template: \"{instruction}>\""},
    {"a.jsonl", row + "\n{\"instruction\": \"b\", \"output\": \"a.b\"}\n",
     "a.jsonl:2: expected an output without the end token ., got a.b", "end_token: \".\""},
    {"a.jsonl", row + "\n\u001b[31m\n",
     "a.jsonl:2: expected a JSON object, got an error in it at byte 1"},
};

}  // namespace

TEST_CASE("instructions: what is said about each broken file, and nothing is left behind") {
  CHECK(broken_files.size() >= 16);
  for (const BrokenInstructions& broken : broken_files) {
    const OwnFiles files;
    files.write(broken.name, broken.bytes);
    const std::string message =
        files.loaded("{type: instructions, tokenizer: char, path: " + broken.name +
                         (broken.options.empty() ? "" : ", " + broken.options) + "}",
                     small_gpt);
    const bool ends = message.ends_with(broken.message);
    CHECK_MESSAGE(ends, "expected ", broken.message, "\ngot      ", message);
    CHECK(!contains(message, "IoError"));
    CHECK(message.find('\x1b') == std::string::npos);
    CHECK(std::distance(std::filesystem::directory_iterator(files.folder.path()), {}) == 2);
  }
}

TEST_CASE("instructions: ten mistakes are shown, all are counted") {
  const OwnFiles files;
  std::string rows = "[";
  for (int i = 0; i < 40; ++i) rows += (i > 0 ? ",\n" : "\n") + std::string("{}");
  files.write("a.json", rows + "\n]");
  const std::string message = files.loaded("{type: instructions, path: a.json}", small_gpt);
  CHECK(message.starts_with("a.json:2: expected the key instruction, got no key\na.json:3: "));
  CHECK(message.ends_with("\na.json: 40 mistakes in all; the first 10 are above"));
}

TEST_CASE("instructions: fields that do not fit") {
  const OwnFiles files;
  files.write("a.json", "[" + row + "," + row + "]");
  const auto said = [&](const std::string& more) {
    return files.loaded("{type: instructions, path: a.json, tokenizer: char, " + more + "}",
                        small_gpt);
  };
  CHECK(said("template: phi3") == "");
  CHECK(contains(said("template: alpca"),
                 "data.template: expected alpaca, phi3 or a text with {instruction}, got alpca; "
                 "did you mean alpaca?"));
  CHECK(contains(said("template: \"{instuction}\""),
                 "data.template: expected {instruction} or {input}, got {instuction}; did you mean "
                 "{instruction}?"));
  CHECK(contains(said("template: \"{instruction} {output}\""),
                 "got {output}; the answer follows the template"));
  CHECK(contains(said("template: \"{input}\""),
                 "data.template: expected a text with {instruction}, got {input}"));
  CHECK(contains(said("template: \"{instruction\""),
                 "expected { and } around the name of a field, got one of them alone; as part of "
                 "the text, it is written twice"));
  CHECK(contains(said("template_without_input: \"{instruction}\""),
                 "template_without_input has no effect with alpaca, which has its own"));
  CHECK(contains(said("loss_on: answers"), "data.loss_on: "));
  CHECK(contains(said("end_token: ab"),
                 "data.end_token: expected a text that is one token of the vocabulary, got ab"));
  CHECK(contains(said("max_length: 9"), "data.max_length: none of the 2 examples has at most 9"));
  CHECK(contains(said("separator: \";\""), "data.separator: unknown key"));
  CHECK(contains(said("validation: a.json, train_fraction: 0.5"),
                 "data.train_fraction: has no effect with data.validation"));
  CHECK(contains(files.loaded("{type: instructions, path: none.json}", small_gpt),
                 "IoError c.yaml:1:"));
}
