#include "train/wings/own_data/split_rows.h"

#include <doctest/doctest.h>

#include "tests/support/near.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::vector<RowColumn> pair_columns{RowColumn{"source"}, RowColumn{"target"}};
const std::vector<RowColumn> label_columns{RowColumn{"text"}, RowColumn{"label", "", true}};

std::vector<RowColumn> named(const std::string& text, const std::string& label) {
  return {RowColumn{"text", text}, RowColumn{"label", label, true}};
}

TextRows rows_of(const std::string& name, const std::string& bytes,
                 const std::vector<RowColumn>& columns = pair_columns) {
  return read_rows(bytes, name, columns);
}

// "1:a|b 2:c|d": lines and cells.
std::string seen(const std::string& name, const std::string& bytes,
                 const std::vector<RowColumn>& columns = pair_columns) {
  std::string all;
  for (const TextRow& row : rows_of(name, bytes, columns).rows) {
    all += text(all.empty() ? "" : " ", row.line, ":", row.cells[0], "|", row.cells[1]);
  }
  return all;
}

}  // namespace

TEST_CASE("rows: TSV by the order of its columns, by header, by name, by number") {
  CHECK(seen("x.tsv", "a b\tc\nd\te f\n") == "1:a b|c 2:d|e f");
  CHECK(seen("x.TXT", "a\tb") == "1:a|b");
  CHECK(seen("x.tsv",
             "\xEF\xBB\xBF"
             "a\tb\r\n\r\n\nc\td\r\n") == "1:a|b 4:c|d");
  CHECK(seen("x.tsv", "Target\tid\tSOURCE\nb\t1\ta\n") == "2:a|b");
  CHECK(seen("x.tsv", "en\tid\tde\nb\t1\ta\n",
             {RowColumn{"source", "de"}, RowColumn{"target", "en"}}) == "2:a|b");
  CHECK(seen("x.tsv", "b\t1\ta\nd\t2\tc\tmore\n",
             {RowColumn{"source", "3"}, RowColumn{"target", "1"}}) == "1:a|b 2:c|d");
  CHECK(seen("x.tsv", "\"a\"\tb \"c\"\n") == "1:\"a\"|b \"c\"");  // nothing is quoted
  CHECK(seen("x.tsv", " a \t b \n") == "1: a | b ");
}

TEST_CASE("rows: both cells from one column are refused") {
  const auto refused = [](const std::string& bytes, const std::string& text,
                          const std::string& label) {
    return error_of([&] { rows_of("x.tsv", bytes, named(text, label)); });
  };
  CHECK(refused("a\tb\n", "1", "01") ==
        "x.tsv:1: expected two columns, text and label, got number 1 for both");
  CHECK(refused("text\tLabel\na\tb\n", "Label", "") ==
        "x.tsv:1: expected two columns, text and label, got number 2 for both");
}

TEST_CASE("rows: CSV as RFC 4180 has it") {
  CHECK(seen("x.csv", "a,b\n\"c, d\",\"e \"\"f\"\"\"\n") == "1:a|b 2:c, d|e \"f\"");
  CHECK(seen("x.csv", "\"two\nlines\",b\r\nc,d\r\n") == "1:two\nlines|b 3:c|d");
  CHECK(seen("x.csv", "\"a\r\nb\",\"c\"") == "1:a\r\nb|c");
  CHECK(seen("x.csv", "text,label\n\"good, not bad\", pos \nbad,neg", label_columns) ==
        "2:good, not bad|pos 3:bad|neg");
  CHECK(seen("x.csv", "id,review,stars\n7,\"fine\",4\n", named("review", "stars")) == "2:fine|4");
  CHECK(seen("x.csv", "5\" pipe,b\n") == "1:5\" pipe|b");  // a quote in the middle is one
  CHECK(seen("x.csv", "\n\na,b\n\n") == "3:a|b");
  CHECK(seen("x.csv", "\"\"\"\",\"b\"\n") == "1:\"|b");
}

TEST_CASE("rows: JSON lines, with escapes and labels that are no text") {
  CHECK(seen("x.jsonl", R"({"source": "a\tb\u00e9\"", "target": "\ud83d\ude00"})") ==
        "1:a\tb\u00e9\"|\U0001F600");
  CHECK(seen("x.ndjson",
             "{\"target\":\"b\",\"n\":[1,{\"source\":2}],\"source\":\"a\"}\n\n"
             "{\"source\":\"c\",\"target\":\"d\"}\r\n") == "1:a|b 3:c|d");
  CHECK(seen("x.jsonl",
             "{\"text\":\"a\",\"label\":1}\n{\"text\":\"b\",\"label\":true}\n"
             "{\"text\":\"c\",\"label\":-0.50}\n{\"text\":\"d\",\"label\":\" x \"}",
             label_columns) == "1:a|1 2:b|true 3:c|-0.50 4:d|x");
  CHECK(seen("x.jsonl", "{\"review\":\"a\",\"stars\":\"b\"}", named("review", "stars")) == "1:a|b");
  CHECK(seen("x.jsonl", std::string(2000, ' ') + "{\"source\":\"a\",\"target\":\"b\",\"x\":" +
                            std::string(5000, '[') + std::string(5000, ']') + "}") == "1:a|b");
}

TEST_CASE("rows: mistakes are counted, the first ten are shown") {
  std::string bytes;
  for (int i = 0; i < 12; ++i) bytes += i % 4 == 3 ? "a\tb\n" : "nothing\n";
  bytes += "c\t\n \td\n";
  const std::string message = error_of([&] { rows_of("x.tsv", bytes); });
  CHECK(
      message.starts_with("x.tsv:1: expected a tab between source and target, got none\n"
                          "x.tsv:2: expected a tab"));
  CHECK(
      message.ends_with("x.tsv:13: expected text as target, got nothing\n"
                        "x.tsv: 11 mistakes in all; the first 10 are above"));
}

namespace {

// Fifty rows of a text and one of two labels.
std::string fifty_rows(const std::string& header, const std::string& separator,
                       bool swapped = false) {
  std::string bytes = header;
  for (int i = 0; i < 50; ++i) {
    const std::string text = heed::text("row ", i), label = i % 2 == 0 ? "good" : "bad";
    bytes += (swapped ? label : text) + separator + (swapped ? text : label) + "\n";
  }
  return bytes;
}

std::string refused_rows(const std::string& name, const std::string& bytes) {
  return error_of([&] { rows_of(name, bytes, label_columns); });
}

}  // namespace

TEST_CASE("rows: a header with blanks, and one with usual names") {
  for (const char* header : {"text, label\n", " Text ,LABEL \n", "review,sentiment\n",
                             "comment,class\n", "label,text\n"}) {
    CAPTURE(header);
    const bool swapped = header == std::string("label,text\n");
    const auto rows = rows_of("x.csv", fifty_rows(header, ",", swapped), label_columns).rows;
    CHECK(rows.size() == 50);
    CHECK(rows[0].line == 2);
    CHECK(rows[0].cells[1] == "good");
  }
  CHECK(rows_of("x.csv", fifty_rows("review,sentiment\n", ","), label_columns).columns ==
        "text is review, label is sentiment");
  CHECK(rows_of("x.csv", fifty_rows("", ","), label_columns).columns ==
        "text is column 1, label is column 2; there is no header");
  CHECK(seen("x.csv", "id,review,sentiment\n7,fine,pos\n", label_columns) == "2:fine|pos");
  CHECK(seen("x.csv", "title , stars\nfine,4\n", named("title", "stars")) == "2:fine|4");
  CHECK(seen("x.tsv", "Question\tanswer\na\tb\n") == "2:a|b");
}

TEST_CASE("rows: columns with two readings are refused") {
  CHECK(refused_rows("x.csv", fifty_rows("kommentar,stimmung\n", ",")) ==
        "x.csv:1: expected a label that another line has too, got stimmung; if this line is a "
        "header: data.text: kommentar, data.label: stimmung; else: data.text: \"1\", data.label: "
        "\"2\"");
  CHECK(refused_rows("x.tsv", fifty_rows("", "\t", true)) ==
        "x.tsv: the columns look swapped: expected few different labels, got 50 in column 2 and 2 "
        "texts in column 1; data.text: \"2\", data.label: \"1\" swaps them");
  CHECK(rows_of("x.tsv", fifty_rows("", "\t", true), named("2", "1")).rows.size() == 50);
  CHECK(refused_rows("x.csv", "id,essay,mark\n1,a,b\n2,c,d\n") ==
        "x.csv:1: expected two columns, text and label, got 3: id, essay, mark; choose with "
        "data.text: NAME, data.label: NAME, or by number without a header: data.text: \"2\"");
  CHECK(refused_rows("x.csv", "id,review,mark\n1,a,b\n2,c,d\n")
            .find("data.text: review, data.label: NAME") != std::string::npos);
  CHECK(refused_rows("x.csv", "text,review,comment,sentiment,class\n1,2,3,4,5\n")
            .find("got several") != std::string::npos);
}

TEST_CASE("rows: another separator, and the line ends of old Macs") {
  const std::string bytes = "text;label\n\"a;b\"; pos\nc,d;neg\n";
  const auto rows = read_rows(bytes, "x.csv", label_columns, ";").rows;
  CHECK(rows.size() == 2);
  CHECK(rows[0].cells[0] == "a;b");
  CHECK(rows[1].cells[0] == "c,d");
  CHECK(error_of([&] { read_rows(bytes, "x.tsv", label_columns, ";"); }) ==
        "x.tsv: data.separator is for a file named *.csv; leave it out");
  CHECK(refused_rows("x.csv", "text,label\ra,b\rc,d\r").find("carriage returns alone") !=
        std::string::npos);
}

TEST_CASE("rows: a first line that may be a header is told, where columns go by number or order") {
  const auto warning = [](const std::string& bytes, const std::vector<RowColumn>& columns) {
    return rows_of("data/x.csv", bytes, columns).warning;
  };
  const auto by_number = named("1", "2");
  CHECK(warning(fifty_rows("review,polarity\n", ","), by_number) ==
        "x.csv:1 is taken as an example; if this line is a header: data.text: review, data.label: "
        "polarity");
  CHECK(warning(fifty_rows("", ","), by_number).empty());
  CHECK(warning(fifty_rows("", ","), label_columns).empty());
  CHECK(warning("en,de\none,eins\n", pair_columns) ==
        "x.csv:1 is taken as an example; if this line is a header: data.source: en, data.target: "
        "de");
  CHECK(warning("en,de\none,eins\n", {RowColumn{"source", "1"}, RowColumn{"target", "2"}}) ==
        warning("en,de\none,eins\n", pair_columns));
  CHECK(warning("en,die Katze\none,eins\n", pair_columns).empty());
  CHECK(warning("one,eins\nen,de\n", pair_columns).empty());
}
