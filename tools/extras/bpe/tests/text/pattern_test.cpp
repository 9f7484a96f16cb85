#include "tools/extras/bpe/train/text/pattern.h"

#include <doctest/doctest.h>

#include "autograd/base/error.h"
#include "tests/support/errors.h"

using namespace heed;
using namespace heed::testing;

namespace {

// The first match, or "-".
std::string first(const std::string& pattern, const std::string& text, size_t from = 0) {
  const Pattern compiled(pattern, "t.json: pre_tokenizer");
  const std::optional<Match> match = Matcher(compiled).find(text, from);
  return match ? text.substr(match->begin, match->end - match->begin) : "-";
}

}  // namespace

TEST_CASE("pattern: letters and digits are Unicode's") {
  CHECK(first(R"(\p{L}+)", "1 здравствуй, мир") == "здравствуй");
  CHECK(first(R"(\p{N}+)", "a ٤٥ b") == "٤٥");
  CHECK(first("(?i:'s)", "it'S") == "'S");
}

TEST_CASE("pattern: from a place in the text") {
  CHECK(first("a", "aXa", 1) == "a");
  CHECK(first("(?<=X)a", "aXa") == "a");
  CHECK(first("b*", "aab") == "");
  CHECK(first("b*", "baab", 0) == "b");
  CHECK(first("x", "aab") == "-");
}

TEST_CASE("pattern: one that is none is refused by name") {
  CHECK(message_of<IoError>([] {
          Pattern("(a", "t.json: pre_tokenizer");
        }).starts_with("t.json: pre_tokenizer: expected a pattern that PCRE2 takes, got (a: "));
  // A lookbehind of any length is a regular expression, but not for PCRE2.
  CHECK(message_of<IoError>([] {
          Pattern("(?<!a+)b", "t");
        }).starts_with("t: expected a pattern that PCRE2 takes, got (?<!a+)b: lookbehind"));
  CHECK(message_of<IoError>([] {
          first("a", "a", 2);
        }).starts_with("t.json: pre_tokenizer: the pattern fails at byte 2 of the text: "));
}
