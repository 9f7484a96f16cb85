#include "tools/extras/bpe/train/added_tokens.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "autograd/base/error.h"
#include "tools/extras/bpe/train/bpe_tokenizer.h"
#include "tools/extras/bpe/train/read_json.h"

using namespace heed;

namespace {

// By trying every token at every place.
const AddedToken* first_of(const std::vector<AddedToken>& tokens, std::string_view text,
                           size_t from, size_t& at) {
  for (at = from; at < text.size(); ++at) {
    const AddedToken* longest = nullptr;
    for (const AddedToken& token : tokens) {
      const bool longer = longest == nullptr || token.content.size() > longest->content.size();
      if (longer && text.substr(at).starts_with(token.content)) longest = &token;
    }
    if (longest != nullptr) return longest;
  }
  return nullptr;
}

std::vector<AddedToken> tokens_of(const std::vector<std::string>& contents) {
  std::vector<AddedToken> tokens;
  for (const std::string& content : contents) {
    tokens.push_back({.id = static_cast<int32_t>(tokens.size()), .content = content});
  }
  return tokens;
}

}  // namespace

TEST_CASE("added tokens: the first in a text, and the longest there") {
  const AddedTokens tokens(tokens_of({"<a>", "<", "<ab", "\xFF", "b"}));
  const auto found = [&](std::string_view given, size_t from) {
    size_t at = 0;
    const AddedToken* const token = tokens.find(given, from, at);
    return text(token == nullptr ? "none" : token->content, " at ", at);
  };
  CHECK(found("", 0) == "none at 0");
  CHECK(found("xy", 0) == "none at 2");
  CHECK(found("x<a>", 0) == "<a> at 1");
  CHECK(found("x<a", 0) == "< at 1");  // the others are longer than what is left
  CHECK(found("<ac", 0) == "< at 0");
  CHECK(found("<abc", 0) == "<ab at 0");
  CHECK(found("<abc", 1) == "b at 2");
  CHECK(found("a\xFF", 0) == "\xFF at 1");
  size_t at = 7;
  CHECK(AddedTokens({}).find("abc", 0, at) == nullptr);
  CHECK(at == 3);
}

TEST_CASE("added tokens: as by trying every one at every place") {
  std::mt19937 random(7);
  const auto word = [&](size_t longest) {
    std::string letters(1 + random() % longest, ' ');
    for (char& letter : letters) letter = "ab\xC3"[random() % 3];
    return letters;
  };
  int64_t compared = 0;
  for (int round = 0; round < 300; ++round) {
    std::set<std::string> contents;
    while (contents.size() < 1 + static_cast<size_t>(round) % 12) contents.insert(word(5));
    std::vector<std::string> shuffled(contents.begin(), contents.end());
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    const std::vector<AddedToken> all = tokens_of(shuffled);
    const AddedTokens tokens(all);
    const std::string text = word(60);
    CAPTURE(text);
    for (size_t from = 0; from <= text.size(); ++from, ++compared) {
      size_t at = 0, expected_at = 0;
      const AddedToken* const token = tokens.find(text, from, at);
      const AddedToken* const expected = first_of(all, text, from, expected_at);
      CHECK(at == expected_at);
      REQUIRE((token == nullptr) == (expected == nullptr));
      CHECK((token == nullptr || token->id == expected->id));
    }
  }
  CHECK(compared > 5000);
}

// Comparing each token with all others, and searching the whole text for each, takes minutes.
TEST_CASE("added tokens: 100,000 of them are read and found without comparing each with each") {
  constexpr int32_t count = 100'000;
  std::string added, vocabulary, given;
  std::vector<int32_t> expected;
  for (int32_t k = 0; k < count; ++k) {
    const std::string content = text("<\u597d", k, ">");
    added += text(k == 0 ? "" : ", ", "{\"id\": ", k + 1, ", \"content\": \"", content, "\"}");
    vocabulary += text(", \"", content, "\": ", k + 1);
    if (k % 10 == 0) {
      given += content + "a";
      expected.insert(expected.end(), {k + 1, 0});
    }
  }
  const std::string file =
      R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "added_tokens": [)" +
      added + R"(], "model": {"type": "BPE", "merges": [], "vocab": {"a": 0)" + vocabulary + "}}}";
  const BpeTokenizer tokenizer(bpe_from_json(file, "t.json"), "t.json");
  CHECK(tokenizer.encode(given) == expected);
}
