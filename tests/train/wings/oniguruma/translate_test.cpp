#include "train/wings/oniguruma/translate.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "autograd/base/error.h"

using namespace heed;

namespace {

std::string translated(const std::string& pattern, const std::string& scripts = "sc:") {
  try {
    return translate_oniguruma(pattern, scripts, "t.json: pre_tokenizer");
  } catch (const IoError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("oniguruma: what PCRE2 has no words for becomes alternatives and lookaheads") {
  const std::string space = R"(\p{Z}\x{9}-\x{D}\x{85})";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"a+b|(c)*?", "a+b|(?:c)*?"},
      {"[a-z&&[^b]]+", "(?:(?=[a-z])(?:[^b]))+"},
      {"[^a&&[ab]]", "(?:(?!(?:(?=[a])[ab]))(?s:.))"},
      {"[a[bc]d]", "[abcd]"},
      {"[a[^bc]]", "(?:[a]|[^bc])"},
      {"[]a]", R"([\x{5D}a])"},
      {"[^]\\s]", R"([^\x{5D})" + space + "]"},
      {"\\S", "[^" + space + "]"},
      {"[\\s\\S]", "(?:[" + space + "]|[^" + space + "])"},
      {"[a-c-e]", R"([a-c\x{2D}e])"},
      {"[-a]", R"([\x{2D}a])"},
      {"\\p{Han}\\p{L}\\P{Lu}\\p{^Nd}", R"([\p{sc:Han}][\p{L}][^\p{Lu}][^\p{Nd}])"},
      {"s{,2}t{2,}u{3}v{,}", R"(s{0,2}t{2,}u{3}v\x{7B}\x{2C}\x{7D})"},
      {"^a$", R"((?:\A|(?<=\x{A})(?!\z))a(?=\x{A}|\z))"},
      {"(?m:.)", "(?s:.)"},
      {"(?i:'s|'ll)?", R"((?i:\x{27}s|\x{27}ll)?)"},
      {"\\u00e9\\x41\\x{e9}\\.", R"(\x{E9}A\x{E9}\x{2E})"}};
  for (const auto& [pattern, expected] : cases) {
    CHECK(translated(pattern) == expected);
  }
  CHECK(translated("\\p{Han}", "") == R"([\p{Han}])");
}

TEST_CASE("oniguruma: what the two libraries do not read alike is refused by its name") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"a\\h", "\\h"},
      {"[\\H]", "\\H"},
      {"\\v", "\\v"},
      {"\\Qa\\E", "\\Q"},
      {"\\PL", "\\P without {"},
      {"\\p{L&}", "\\p{L&}"},
      {"\\ba", "\\b"},
      {"(a)\\1", "\\1"},
      {"a\\Kb", "\\K"},
      {"\\C", "\\C"},
      {"\\xe9", "\\x of a part of a character"},
      {"[[:punct:]]", "[: in a class"},
      {"[a&&]", "a class without characters"},
      {"[\\d-a]", "a - after a set"},
      {"[--a]", "a - that may be a range"},
      {"[b-a]", "a range that is none"},
      {"(?i)a", "(?i"},
      {"(?s:a)", "(?s"},
      {"(?C1)a", "(?C"},
      {"(*ACCEPT)a", "(*A"},
      {"(?<n>a)", "(?<"},
      {"(?i:ss)", "(?i: of ss"},
      {"(?i:\u00df)", "(?i: of more than letters"},
      {"(?i:\\p{L})", "(?i: of more than letters"},
      {"a{2}?", "{2}?"},
      {"a{1,2}+", "{1,2}+"},
      {"a+*", "a repeat * of a repeat"},
      {"^*", "a repeat * of an assertion"},
      {"(?=a)+", "a repeat + of an assertion"},
      {"+a", "a repeat + of nothing"},
      {"[a", "an end in the middle"},
      {"a\\", "an end in the middle"}};
  for (const auto& [pattern, construct] : cases) {
    CHECK(translated(pattern) ==
          "t.json: pre_tokenizer: expected a pattern that Oniguruma and PCRE2 read alike, got " +
              construct + " in " + (pattern == "(?i:\u00df)" ? "(?i:\u00df)" : pattern));
  }
  CHECK(translated(std::string(5000, '[') + "a").find("without end") != std::string::npos);
}
