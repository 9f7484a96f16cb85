#include "train/wings/bpe/text/pattern.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "autograd/base/error.h"
#include "tests/support/errors.h"
#include "tests/support/run_program.h"
#include "train/wings/bpe/splitter.h"

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

TEST_CASE("pattern: letters, digits and white space are Unicode's") {
  CHECK(first(R"(\p{L}+)", "1 здравствуй, мир") == "здравствуй");
  CHECK(first(R"(\p{N}+)", "a ٤٥ b") == "٤٥");
  CHECK(first(R"(\s+)", "a\u00a0\u3000b") == "\u00a0\u3000");
  CHECK(first(R"(\s+)", "a\u180e\u200bb") == "-");  // white space once, and never
  CHECK(first(R"([^\s]+)", "\u180e a") == "\u180e");
  CHECK(first(R"(\S+)", " \u180ea ") == "\u180ea");
  CHECK(first("(?i:'s)", "it'S") == "'S");
}

TEST_CASE("pattern: cuts a text as Hugging Face's tokenizers do") {
  const auto file = nlohmann::json::parse(
      read_text(std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/tokenizers/patterns.json"));
  const auto text = file.at("text").get<std::string>();
  CHECK(file.at("pieces").size() > 50);
  for (const auto& entry : file.at("pieces").items()) {
    const std::string pattern = entry.key();
    CAPTURE(pattern);
    const Splitter splitter({{pattern, SplitRule::Keep::all}}, "t");
    std::vector<std::string> pieces;
    Cutter(splitter).cut(text, [&](std::string_view piece) { pieces.emplace_back(piece); });
    CHECK(pieces == entry.value().get<std::vector<std::string>>());
  }
}

TEST_CASE("pattern: from a place in the text") {
  CHECK(first("a", "aXa", 1) == "a");
  CHECK(first("(?<=X)a", "aXa") == "a");
  CHECK(first("b*", "aab") == "");
  CHECK(first("b*", "baab", 0) == "b");
  CHECK(first("x", "aab") == "-");
}

TEST_CASE("pattern: one that is none, and one that takes forever, are refused by name") {
  CHECK(message_of<IoError>([] {
          Pattern("(a", "t.json: pre_tokenizer");
        }).starts_with("t.json: pre_tokenizer: expected a pattern that PCRE2 takes, got (a: "));
  CHECK(message_of<IoError>([] {
          Pattern(std::string(20'000, 'a'), "t");
        }).starts_with("t: expected a pattern of at most"));
  CHECK(message_of<IoError>([] {
          Pattern(R"(\C)", "t");
        }).starts_with("t: expected a pattern that Oniguruma and PCRE2 read alike, got \\C"));
  // A lookbehind of any length is a regular expression, but not for PCRE2.
  CHECK(message_of<IoError>([] {
          Pattern("(?<!a+)b", "t");
        }).starts_with("t: expected a pattern that PCRE2 takes, got (?<!a+)b: lookbehind"));
  const std::string many(60, 'a');
  CHECK(message_of<IoError>([&] {
          first("(a+)+$", many + "b");
        }).find("the pattern fails at byte 0") != std::string::npos);
  // A million blanks are no catastrophe.
  CHECK(first(R"(\s+(?!\S)|\s+)", std::string(1'000'000, ' ') + "a").size() == 999'999);
  // Nor are more, of which every one is tried as the last before a newline.
  CHECK(first(R"(\s*[\r\n]+|\s+)", std::string(11'000'000, ' ')).size() == 11'000'000);
}

// Each match is cheap, but looks at the rest of the text.
TEST_CASE("pattern: a text that takes quadratic time is refused soon") {
  for (const std::string pattern : {"a*b|a", "a*[bc]|d", R"(a(?=a*\n))"}) {
    CAPTURE(pattern);
    const Splitter splitter({{pattern, SplitRule::Keep::all}}, "t.json");
    const std::string text(300'000, 'a');
    CHECK(message_of<IoError>([&] {
            splitter.steps(text, 0, text.size());
          }).starts_with("t.json: the pattern fails at byte "));
  }
  // Looking far once, or far only where a match is long, is fine.
  const std::string words = "word " + std::string(100'000, ' ') + "123";
  const Splitter usual({{R"(\s*[\r\n]+|\s+(?!\S)|\s+|\p{N})", SplitRule::Keep::all}}, "t.json");
  CHECK(usual.steps(words, 0, words.size()).size() == 5);
}
