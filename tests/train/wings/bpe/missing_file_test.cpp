// A tokenizer file that a config names and that is not there.
#include <doctest/doctest.h>

#include "tests/support/config_lines.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("bpe: a file with an odd name that is missing") {
  const std::string of_tokenizer =
      lines_of(sections, {"data.tokenizer={type: bpe, path: \"line\\nof.json\"}"});
  CAPTURE(of_tokenizer);
  CHECK(contains(of_tokenizer, ":1:34: data.tokenizer.path: "));
  CHECK(contains(of_tokenizer, "line\\nof.json: cannot open: No such file"));
}

TEST_CASE("bpe: an empty name of a file is none") {
  const std::string message = "expected the name of a file, got nothing";
  CHECK(lines_of(sections, {"data.tokenizer={type: bpe, path: \"\"}"}) ==
        "--set data.tokenizer={type: bpe, path: \"\"}:1:34: data.tokenizer.path: " + message);
}
