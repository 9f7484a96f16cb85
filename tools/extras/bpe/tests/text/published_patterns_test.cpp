#include "tools/extras/bpe/train/text/published_patterns.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "autograd/base/error.h"
#include "tests/support/errors.h"
#include "tests/support/run_program.h"
#include "tools/extras/bpe/train/splitter.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("published patterns: each cuts a text as Hugging Face's tokenizers do") {
  const auto file = nlohmann::json::parse(
      read_text(std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/tokenizers/patterns.json"));
  const auto text = file.at("text").get<std::string>();
  std::set<std::string> patterns;
  for (const PublishedPattern& each : published_patterns()) {
    CAPTURE(each.pattern);
    const Splitter splitter({{each.pattern, SplitRule::Keep::all}}, "t");
    std::vector<std::string> pieces;
    Cutter(splitter).cut(text, [&](std::string_view piece) { pieces.emplace_back(piece); });
    CHECK(pieces == file.at("pieces").at(each.pattern).get<std::vector<std::string>>());
    patterns.insert(each.pattern);
  }
  CHECK(patterns.size() == file.at("pieces").size());
}

TEST_CASE("published patterns: runs of any length are cut") {
  constexpr size_t length = 200'000;
  for (const PublishedPattern& each : published_patterns()) {
    CAPTURE(each.pattern);
    const Splitter splitter({{each.pattern, SplitRule::Keep::all}}, "t");
    for (const std::string part : {" ", "\n ", "A", "a", "'", "\u3042", "\u0301"}) {
      CAPTURE(part);
      std::string run;
      while (run.size() < length) run += part;
      CHECK(splitter.steps(run + "a", 0, run.size() + 1).back().end == run.size() + 1);
    }
  }
  // Every one of these blanks is tried as the last before a newline.
  const Splitter gpt4({{gpt4_pattern, SplitRule::Keep::all}}, "t");
  CHECK(gpt4.steps(std::string(11'000'000, ' '), 0, 11'000'000).size() == 1);
}

TEST_CASE("published patterns: any other is refused by name, unless it is a quoted text") {
  const auto taken = [](const std::string& pattern) {
    return pattern_for_pcre2(pattern, "t.json: pre_tokenizer");
  };
  CHECK(message_of<IoError>([&] { taken(R"(\w+)"); }) ==
        "t.json: pre_tokenizer: expected the pattern of GPT-2, GPT-4, Llama 3, GPT-4o, Qwen 2, "
        "Qwen 3.5, Kimi, BLOOM, DeepSeek, or a quoted text, got \\w+");
  for (const std::string pattern : {"", "a.b", R"(\d)", "a\\", R"(\p{N}{1,4})"}) {
    CAPTURE(pattern);
    CHECK_THROWS_AS(taken(pattern), IoError);
  }
  CHECK(quoted_pattern("a.\\\u00e97\n") == "a\\.\\\\\u00e97\\\n");
  CHECK(taken("a\\.\\\\\u00e97\\\n") == "a\\.\\\\\u00e97\\\n");
}
