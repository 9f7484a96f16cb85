#include "tools/extras/bpe/train/splitter.h"

#include <doctest/doctest.h>

#include "tools/extras/bpe/train/text/published_patterns.h"

using namespace heed;

namespace {

std::vector<std::string> pieces(const std::vector<SplitRule>& rules, const std::string& text) {
  const Splitter splitter(rules, "t");
  std::vector<std::string> all;
  Cutter(splitter).cut(text, [&](std::string_view piece) { all.emplace_back(piece); });
  return all;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("splitter: what a rule keeps") {
  const std::string text = "ab12c3";
  CHECK(pieces({{R"(\p{N}+)", SplitRule::Keep::all}}, text) == Strings{"ab", "12", "c", "3"});
  CHECK(pieces({{R"(\p{N}+)", SplitRule::Keep::matches}}, text) == Strings{"12", "3"});
  CHECK(pieces({{R"(\p{N}+)", SplitRule::Keep::gaps}}, text) == Strings{"ab", "c"});
  CHECK(pieces({}, text) == Strings{text});
  CHECK(pieces({{"x", SplitRule::Keep::all}}, "").empty());
}

TEST_CASE("splitter: a rule cuts what the one before it made") {
  const std::vector<SplitRule> rules{{R"(\p{N})", SplitRule::Keep::all},
                                     {gpt2_pattern, SplitRule::Keep::all}};
  CHECK(pieces(rules, "in 2024, it's") == Strings{"in", " ", "2", "0", "2", "4", ",", " it", "'s"});
}

TEST_CASE("splitter: walks that begin elsewhere meet: as many threads as there are") {
  std::string text;
  for (int i = 0; i < 400; ++i) {
    text +=
        std::string(static_cast<size_t>(i % 7), ' ') + "wörd's" + (i % 5 == 0 ? "\n\n" : "12345 ");
  }
  text += std::string(500, 'x');  // longer than a walk
  for (const std::string pattern : {gpt2_pattern, gpt4_pattern, "xxxxxxx", "d\\'", "nothing"}) {
    CAPTURE(pattern);
    const Splitter splitter({{pattern, SplitRule::Keep::all}}, "t");
    const std::vector<SplitStep> one = splitter.steps(text, 0, text.size());
    for (const int threads : {2, 3, 8, 50}) {
      const std::vector<SplitStep> many = splitter.steps(text, 0, text.size(), threads);
      REQUIRE(many.size() == one.size());
      for (size_t i = 0; i < one.size(); ++i) {
        CHECK((many[i].begin == one[i].begin && many[i].match == one[i].match &&
               many[i].end == one[i].end));
      }
    }
    CHECK(one.back().end == text.size());
  }
}
