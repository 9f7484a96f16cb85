// Files of instructions and of documents with mistakes in them: what is said about each.
#include "tools/extras/own_data/tests/own_data_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("instructions: what is said about each broken file, and nothing is left behind") {
  const std::string row = R"({"instruction": "say a", "output": "a"})";
  CHECK(check_own_data("instructions.txt", "instructions, tokenizer: char", tiny_gpt,
                       {{"a.json", "[" + row + "," + row + "]"}}) == 43);
}

TEST_CASE("lines: what is said about each broken file, and nothing is left behind") {
  CHECK(check_own_data("lines.txt", "lines", tiny_gpt, {{"a.txt", "anna\n"}}) == 29);
}

TEST_CASE("instructions and lines: ten mistakes are shown, all are counted") {
  const OwnFiles files;
  std::string rows = "[", lines = "good\n";
  for (int i = 0; i < 40; ++i) rows += (i > 0 ? ",\n" : "\n") + std::string("{}");
  for (int i = 0; i < 25; ++i) lines += i % 2 == 0 ? " \n" : "\xFF\n";
  files.write("a.json", rows + "\n]");
  files.write("a.txt", lines);
  const std::string of_rows = files.loaded("{type: instructions, path: a.json}", tiny_gpt);
  CHECK(of_rows.starts_with("a.json:2: expected the key instruction, got no key\na.json:3: "));
  CHECK(of_rows.ends_with("\na.json: 40 mistakes in all; the first 10 are above"));
  const std::string of_lines = files.loaded("{type: lines, path: a.txt}", tiny_gpt);
  CHECK(
      of_lines.starts_with("a.txt:2: expected text as document, got blanks alone\n"
                           "a.txt:3: expected UTF-8, got the byte 0xFF in column 1\n"));
  CHECK(of_lines.ends_with("\na.txt: 25 mistakes in all; the first 10 are above"));
}
