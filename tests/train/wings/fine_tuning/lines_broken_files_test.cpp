// Files of documents with mistakes in them: what is said about each.
#include "tests/train/wings/own_data/own_data_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

struct BrokenDocuments {
  std::string name, bytes, message;
  std::string options = "";
};

const std::vector<BrokenDocuments> broken_documents{
    {"a.txt", "", "a.txt: expected examples, got none"},
    {"a.txt", "\n\r\n\n", "a.txt: expected examples, got none"},
    {"a.txt", "\xEF\xBB\xBF", "a.txt: expected examples, got none"},
    {"a.txt", "anna\n \t\nbo\n", "a.txt:2: expected text as document, got blanks alone"},
    {"a.txt", "anna\nJ\xFCrgen\n", "a.txt:2: expected UTF-8, got the byte 0xFC in column 2"},
    {"a.txt", "J\xC3\xBCrgen\nb\xC3\n", "a.txt:2: expected UTF-8, got the byte 0xC3 in column 2"},
    {"a.txt", std::string("a\0n\0", 4),
     "a.txt:1: expected UTF-8, got the byte 0x00 in column 2 (a file in UTF-16 has such bytes)"},
    {"a.txt", "\xFF\xFE", "a.txt:1: expected UTF-8, got the byte 0xFF in column 1"},
    {"a.txt", "anna\rbo\rcleo",
     "a.txt: expected lines that end with a newline, got carriage returns alone, the line ends of "
     "old Macs; convert the file (with tr '\\r' '\\n', for example)"},
    {"a.txt", "anna\n\u00a0\n", "a.txt:2: expected at least one word, got \u00a0",
     "tokenizer: words"},
    {"a.txt", "ab\nb\n",
     "data.text: is for a file of objects, *.jsonl; each line of a *.txt is a "
     "document; leave it out",
     "text: name"},
    {"a.txt", "ab\n", "data.max_length: none of the 1 examples has at most 1 tokens",
     "max_length: 1"},
    {"a.txt", "a.b\nb\na\n",
     "a.txt:1: expected a document without data.mark ., which would end it, got one with it",
     "mark: \".\""},
    {"a.txt", "ab\nb\n", "data.mark: expected a text that is one character, got ab, which has 2",
     "mark: ab"},
    {"a.txt", "ab\nb\n", "data.train_fraction: expected a number above 0 up to 1, got 2",
     "train_fraction: 2"},
    {"a.csv", "name\nanna\n",
     "a.csv: expected a file named *.txt (a text each line) or *.jsonl (an object each line), got "
     ".csv"},
    {"names", "anna\n",
     "names: expected a file named *.txt (a text each line) or *.jsonl (an object each line), got "
     "no extension"},
    {"a.jsonl", "anna\n", "a.jsonl:1: expected a JSON object, got an error in it at byte 1"},
    {"a.jsonl", "{\"text\": \"anna\"\n",
     "a.jsonl:1: expected a JSON object, got an error in it at byte 16"},
    {"a.jsonl", "[\"anna\"]\n", "a.jsonl:1: expected a JSON object, got an array"},
    {"a.jsonl", "\"anna\"\n", "a.jsonl:1: expected a JSON object, got another value"},
    {"a.jsonl", "{\"text\": \"a\"}\n{\"txt\": \"b\"}\n",
     "a.jsonl:2: expected the key text, got txt; did you mean txt?"},
    {"a.jsonl", "{\"text\": \"a\"}\n", "a.jsonl:1: expected the key story, got text",
     "text: story"},
    {"a.jsonl", "{}\n", "a.jsonl:1: expected the key text, got no key"},
    {"a.jsonl", "{\"text\": 7}\n", "a.jsonl:1: expected text as text, got a number"},
    {"a.jsonl", "{\"text\": null}\n", "a.jsonl:1: expected text as text, got null"},
    {"a.jsonl", "{\"text\": [\"a\"]}\n", "a.jsonl:1: expected text as text, got an array"},
    {"a.jsonl", "{\"text\": \"a\", \"text\": \"b\"}\n",
     "a.jsonl:1: expected the key text once, got it twice"},
    {"a.jsonl", "{\"text\": \"\"}\n", "a.jsonl:1: expected text as document, got nothing"},
    {"a.jsonl", "{\"text\": \"\\n\"}\n", "a.jsonl:1: expected text as document, got blanks alone"},
    {"a.jsonl", "{\"text\": \"\\udc00\"}\n",
     "a.jsonl:1: expected a JSON object, got half of a character, \\ud800 to \\udfff alone, at "
     "byte 16"},
    {"a.jsonl", "{\"text\": \"\xE9\"}\n",
     "a.jsonl:1: expected UTF-8, got the byte 0xE9 in column 11"},
};

std::string said_of(const OwnFiles& files, const std::string& data) {
  return files.loaded("{type: lines, " + data + "}",
                      "{type: gpt, d_model: 8, num_heads: 2, num_layers: 1}");
}

}  // namespace

TEST_CASE("lines: what is said about each broken file, and nothing is left behind") {
  CHECK(broken_documents.size() >= 30);
  for (const BrokenDocuments& broken : broken_documents) {
    const OwnFiles files;
    files.write(broken.name, broken.bytes);
    const std::string message = said_of(
        files, "path: " + broken.name + (broken.options.empty() ? "" : ", ") + broken.options);
    const bool ends = message.ends_with(broken.message);
    CHECK_MESSAGE(ends, "expected ", broken.message, "\ngot      ", message);
    CHECK(!contains(message, "IoError"));
    CHECK(std::distance(std::filesystem::directory_iterator(files.folder.path()), {}) == 2);
  }
}

TEST_CASE("lines: all mistakes are counted, ten are shown") {
  const OwnFiles files;
  std::string lines = "good\n";
  for (int i = 0; i < 25; ++i) lines += i % 2 == 0 ? " \n" : "\xFF\n";
  files.write("a.txt", lines);
  const std::string message = said_of(files, "path: a.txt");
  CHECK(
      message.starts_with("a.txt:2: expected text as document, got blanks alone\n"
                          "a.txt:3: expected UTF-8, got the byte 0xFF in column 1\n"));
  CHECK(contains(message, "a.txt:11: "));
  CHECK(!contains(message, "a.txt:12: "));
  CHECK(contains(message, "25"));
}

TEST_CASE("lines: too few documents, and files that are not there") {
  const OwnFiles files;
  files.write("a.txt", "anna\n");
  CHECK(contains(said_of(files, "path: a.txt, train_fraction: 0.999999"),
                 "a.txt: expected at least train.batch_size 2 examples to train on, got 1"));
  CHECK(contains(said_of(files, "path: no.txt"), "IoError c.yaml:1:"));
  CHECK(contains(said_of(files, "path: a.txt, validation: no.txt"), "IoError c.yaml:1:"));
  CHECK(contains(said_of(files, "path: \"\""), "expected the name of a file, got nothing"));
  CHECK(contains(said_of(files, "path: a.txt, separator: \";\""), "separator: unknown key"));
  CHECK(contains(said_of(files, "path: a.txt, fingerprint: \"xxh64:0000000000000000:1\""),
                 "IoError"));
}
