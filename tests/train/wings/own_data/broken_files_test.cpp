// Files with mistakes in them: what is said about each.
#include "tests/train/wings/own_data/own_data_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

struct Broken {
  std::string name, bytes, message;
  std::string options = "";
};

const std::string good = "fine\tpos\nawful\tneg\nnice\tpos\nbad\tneg\n";

const std::vector<Broken> labelled_files{
    {"a.tsv", "fine pos\n", "a.tsv:1: expected a tab between text and label, got none"},
    {"a.tsv", "fine,pos\n",
     "a.tsv:1: expected a tab between text and label, got a comma; name a file with commas *.csv"},
    {"a.tsv", "x\tpos\ny\tneg\textra\n",
     "a.tsv:2: expected two columns, text and label, got 3 (data.text and data.label name columns "
     "of a header, or number them: \"1\")"},
    {"a.tsv", "\tpos\n", "a.tsv:1: expected text as text, got nothing"},
    {"a.tsv", "fine\t \n", "a.tsv:1: expected text as label, got blanks alone"},
    {"a.tsv", "fine\tpos\nbad\xE9\tneg\n",
     "a.tsv:2: expected UTF-8, got the byte 0xE9 in column 4"},
    {"a.tsv", std::string("f\0i\0n\0", 6),
     "a.tsv:1: expected UTF-8, got the byte 0x00 in column 2 "
     "(a file in UTF-16 has such bytes)"},
    {"a.tsv", "\xFF\xFE", "a.tsv:1: expected UTF-8, got the byte 0xFF in column 1"},
    {"a.tsv", "\xC3\xA9\xC3\xA9\xC3\tpos\n",
     "a.tsv:1: expected UTF-8, got the byte 0xC3 in column 3"},
    {"a.tsv", "", "a.tsv: expected examples, got none"},
    {"a.tsv", "\n\r\n\n", "a.tsv: expected examples, got none"},
    {"a.tsv", "text\tlabel\n", "a.tsv: expected examples, got none"},
    {"a.tsv", "fine\tpos\nnice\tpos\n",
     "a.tsv: expected at least two classes, got pos in all of 2 examples"},
    {"a.tsv", "essay\tlabel\nfine\tpos\n",
     "a.tsv:1: expected a column text for data.text in this header, got essay, label",
     "label: label"},
    {"a.tsv", "txt\tlabel\nfine\tpos\n",
     "a.tsv:1: expected a column text for data.text in this header, got txt, label; did you mean "
     "txt?",
     "label: label"},
    {"a.tsv", "text\ttext\nfine\tpos\n",
     "a.tsv:1: expected a column text for data.text in this header, got several",
     "{text: text, label: label}"},
    {"a.tsv", "text\tlabel\tid\nfine\tpos\n",
     "a.tsv:2: expected 3 columns, as the header has, got 2"},
    {"a.tsv", "fine\tpos\n", "a.tsv:1: expected at least 3 columns, got 2",
     "{text: \"1\", label: \"3\"}"},
    {"a.tsv", good + "odd\tneutral\n", "a.tsv:5: expected a label of neg, pos, got neutral",
     "classes: [neg, pos]"},
    {"a.tsv", good + "odd\tpositive\n", "a.tsv:5: expected a label of neg, pos, got positive",
     "classes: [neg, pos]"},
    {"a.tsv", good + "odd\tpso\n",
     "a.tsv:5: expected a label of neg, pos, got pso, did you mean pos?", "classes: [neg, pos]"},
    {"a.tsv", good + "\x1b[31m\tb\x1b[0m\n", "a.tsv:5: expected a label of neg, pos, got b\\x1b[0m",
     "classes: [neg, pos]"},
    {"a.tsv", "\u00a0\tpos\n" + good, "a.tsv:1: expected at least one word, got \u00a0"},
    {"a.csv", "fine;pos\n",
     "a.csv:1: expected a comma between text and label, got a semicolon; data.separator: "
     "\";\" is for such files"},
    {"a.csv", "fine\tpos\n",
     "a.csv:1: expected a comma between text and label, got a tab; name a file with tabs *.tsv"},
    {"a.csv", "fine,pos\n\"bad,neg\nx,y\n",
     "a.csv:2: expected a quote that closes the one in column 1, got the end of the file"},
    {"a.csv", "fine,pos\nbad,\"neg\nx,y\n",
     "a.csv:2: expected a quote that closes the one in column 5, got the end of the file"},
    {"a.csv", "fine,pos\n\"bad\" one,neg\n",
     "a.csv:2: expected a comma after the closing quote, got \x20; a quote inside of quotes is "
     "written twice"},
    {"a.csv", "fine,pos\n\"two\nlines \xE9\",neg\n",
     "a.csv:3: expected UTF-8, got the byte 0xE9 in column 7 of cell 1"},
    {"a.csv", "fine,pos\nbad, \"neg\"\n",
     "a.csv:2: expected a quote at the beginning of the cell, got it after a blank in column 6; "
     "leave the blank out, or quote all of it"},
    {"a.csv", " \"fine\",pos\n", "in column 2; leave the blank out, or quote all of it"},
    {"a.csv", "sep=;\ntext;label\nfine;pos\n",
     "a.csv:1: expected an example or a header, got sep=;, a line for Excel; delete it, and give "
     "data.separator: \";\""},
    {"a.csv", "sep=,\r\ntext,label\r\n",
     "a.csv:1: expected an example or a header, got sep=,, a line for Excel; delete it"},
    {"a.csv", "text,label\nfine,pos\n",
     "a.csv:1: expected an example, as columns by number have no header, got one; leave out "
     "data.text and data.label, or this line",
     "{text: \"1\", label: \"2\"}"},
    {"a.csv", "id,Label, review\n1,fine,pos\n",
     "a.csv:1: expected an example, as columns by number have no header, got one; leave out "
     "data.text and data.label, or this line",
     "{text: \"2\", label: \"3\"}"},
    {"a.csv", "fine,\n", "a.csv:1: expected text as label, got nothing"},
    {"a.csv", "a,b,c\n",
     "a.csv:1: expected two columns, text and label, got 3 (data.text and data.label name columns "
     "of a header, or number them: \"1\")"},
    {"a.jsonl", "{\"text\": \"fine\", \"label\": }\n",
     "a.jsonl:1: expected a JSON object, got an error in it at byte 27"},
    {"a.jsonl", "{\"text\": \"fine\"\n",
     "a.jsonl:1: expected a JSON object, got an error in it at byte 16"},
    {"a.jsonl", "[\"fine\", \"pos\"]\n", "a.jsonl:1: expected a JSON object, got an array"},
    {"a.jsonl", "\"fine\"\n", "a.jsonl:1: expected a JSON object, got another value"},
    {"a.jsonl", "{\"txt\": \"fine\", \"label\": \"pos\"}\n",
     "a.jsonl:1: expected the key text, got txt, label; did you mean txt?"},
    {"a.jsonl", "{}\n", "a.jsonl:1: expected the key text, got no key"},
    {"a.jsonl", "{\"text\": 7, \"label\": \"pos\"}\n",
     "a.jsonl:1: expected text as text, got a number"},
    {"a.jsonl", "{\"text\": \"fine\", \"label\": null}\n",
     "a.jsonl:1: expected text as label, got null"},
    {"a.jsonl", "{\"text\": \"fine\", \"label\": [\"pos\"]}\n",
     "a.jsonl:1: expected text as label, got an array"},
    {"a.jsonl", "{\"text\": \"a\", \"text\": \"b\", \"label\": \"pos\"}\n",
     "a.jsonl:1: expected the key text once, got it twice"},
    {"a.jsonl", "{\"text\": \"\\ud800\", \"label\": \"pos\"}\n",
     "a.jsonl:1: expected a JSON object, got half of a character, \\ud800 to \\udfff alone, at "
     "byte 17"},
    {"a.jsonl", "{\"text\": \"fin\xE9\", \"label\": \"pos\"}\n",
     "a.jsonl:1: expected UTF-8, got the byte 0xE9 in column 14"},
    {"a.jsonl", "{\"text\": \"\", \"label\": \"pos\"}\n",
     "a.jsonl:1: expected text as text, got nothing"},
    {"a.jsonl", std::string(100'000, '[') + "\n",
     "a.jsonl:1: expected a JSON object, got an array"},
    {"a.json", "[]",
     "a.json: expected a file named *.tsv, *.csv or *.jsonl (an object each line), got .json"},
};

}  // namespace

TEST_CASE("own data: what is said about each of 40 broken files, and nothing is left behind") {
  CHECK(labelled_files.size() >= 40);
  for (const Broken& broken : labelled_files) {
    const OwnFiles files;
    files.write(broken.name, broken.bytes);
    std::string options = broken.options;
    if (options.starts_with("{")) options = options.substr(1, options.size() - 2);
    const std::string message = files.loaded(
        "{type: labelled, path: " + broken.name + (options.empty() ? "" : ", " + options) + "}",
        small_classifier);
    const bool ends = message.ends_with(broken.message);
    CHECK_MESSAGE(ends, "expected ", broken.message, "\ngot      ", message);
    CHECK(!contains(message, "IoError"));  // exit code 2: the contents would have to change
    CHECK(message.find('\x1b') == std::string::npos);
    CHECK(std::distance(std::filesystem::directory_iterator(files.folder.path()), {}) == 2);
  }
}

TEST_CASE("own data: too few examples, nothing short enough, and fields that contradict") {
  const OwnFiles files;
  files.write("a.tsv", "one two three\tpos\nfour five six\tneg\n");
  files.write("same.tsv", "x\tpos\nx\tneg\n");
  const auto data = [&](const std::string& more) {
    return files.loaded("{type: labelled, path: a.tsv" + more + "}", small_classifier);
  };
  CHECK(data(", train_fraction: 0.000001") ==
        "c.yaml:1:30: data.path: a.tsv: expected at least train.batch_size 2 examples to train on, "
        "got 0 and 2 to validate with");
  CHECK(contains(error_of([&] { files.task("{type: labelled, path: a.tsv}", 9); }),
                 "; lower train.batch_size"));
  CHECK(data(", max_length: 2") ==
        "c.yaml:1:49: data.max_length: none of the 2 examples has at most 2 tokens");
  CHECK(contains(data(", validation: a.tsv, train_fraction: 0.5"),
                 "data.train_fraction: has no effect with data.validation"));
  CHECK(contains(data(", text: a, label: a"),
                 "data.label: expected another column than that of text, got a for both"));
  // One name may be that which the other column has without one.
  CHECK(contains(data(", label: text"),
                 "data.label: expected another column than that of text, got text for both"));
  CHECK(contains(data(", text: label"),
                 "data.label: expected another column than that of text, got label for both"));
  CHECK(contains(data(", classes: [a, a]"),
                 "data.classes: expected at least two different classes, got a, a"));
  CHECK(contains(data(", validation: no.tsv"), "IoError c.yaml:1:"));
  CHECK(contains(files.loaded("{type: labelled, path: no.tsv}", small_classifier),
                 "IoError c.yaml:1:30: data.path: no.tsv: "));
  CHECK(contains(data(", fingerprint: \"xxh64:0000000000000000:1\""), "IoError"));
  // With other mistakes, those of the file come too.
  files.write("bad.tsv", "no tab\n");
  const std::string both =
      files.loaded("{type: labelled, path: bad.tsv}",
                   "{type: classifier, d_modle: 8, num_heads: 2, num_layers: 1}");
  CHECK(contains(both, "bad.tsv:1: expected a tab"));
  CHECK(contains(both, "d_modle: unknown key"));
}

TEST_CASE("own data: an unknown label in the file to validate with") {
  const OwnFiles files;
  files.write("a.tsv", good);
  files.write("v.tsv", "fine\tpos\nodd\tneutral\n");
  CHECK(files.loaded("{type: labelled, path: a.tsv, validation: v.tsv}", small_classifier) ==
        "v.tsv:2: expected a label of neg, pos, got neutral");
}
