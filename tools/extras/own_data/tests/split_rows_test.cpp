#include "tools/extras/own_data/train/split_rows.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "tests/support/broken_files.h"
#include "tests/support/errors.h"

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
                 const std::vector<RowColumn>& columns) {
  std::string all;
  for (const TextRow& row : rows_of(name, bytes, columns).rows) {
    all += text(all.empty() ? "" : " ", row.line, ":", row.cells[0], "|", row.cells[1]);
  }
  return all;
}

}  // namespace

TEST_CASE("rows: what is read of each file, and what is said of broken ones") {
  CHECK(check_broken("rows.txt", [](const BrokenFile& broken) {
          std::istringstream setting(broken.setting);
          std::string name;
          std::vector<RowColumn> columns;
          setting >> name;
          for (std::string column; setting >> column;) {
            const size_t end = std::min(column.find('='), column.size());
            const std::string chosen = end < column.size() ? column.substr(end + 1) : "";
            columns.push_back({column.substr(0, end), chosen, column.starts_with("label")});
          }
          return seen(name, broken.content, columns);
        }) == 29);
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
}

TEST_CASE("rows: a first label that no other row has may be the name of a column") {
  CHECK(refused_rows("x.csv", fifty_rows("kommentar,stimmung\n", ",")) ==
        "x.csv:1: expected a label that another line has too, got stimmung; if this line is a "
        "header: data.text: kommentar, data.label: stimmung; else: data.text: \"1\", data.label: "
        "\"2\"");
  CHECK(rows_of("x.tsv", fifty_rows("", "\t", true), named("2", "1")).rows.size() == 50);
  CHECK(refused_rows("x.csv", "Comment,Stars\ngood,5\nbad,1\nfine,5\nawful,1\n")
            .starts_with("x.csv:1: expected a label that another line has too, got Stars"));
}

TEST_CASE("rows: labels that are as different as texts may be the texts") {
  const std::string other =
      "; if the label comes first: data.text: \"2\", data.label: \"1\"; "
      "else: data.text: \"1\", data.label: \"2\"";
  CHECK(refused_rows("x.tsv", fifty_rows("", "\t", true)) ==
        "x.tsv: expected labels that several lines have, got 50 different ones in 50 lines" +
            other);
  CHECK(refused_rows("x.csv", "only,unique\na,b\nc,d\ne,f\ng,h\n") ==
        "x.csv: expected labels that several lines have, got 5 different ones in 5 lines" + other);
}

TEST_CASE("rows: another separator") {
  const std::string bytes = "text;label\n\"a;b\"; pos\nc,d;neg\n";
  const auto rows = read_rows(bytes, "x.csv", label_columns, ";").rows;
  CHECK(rows.size() == 2);
  CHECK(rows[0].cells[0] == "a;b");
  CHECK(rows[1].cells[0] == "c,d");
  CHECK(error_of([&] { read_rows(bytes, "x.tsv", label_columns, ";"); }) ==
        "x.tsv: data.separator is for a file named *.csv; leave it out");
}
