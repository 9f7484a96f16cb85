#include "train/extras/toy_tasks/word_tokenizer.h"

#include <doctest/doctest.h>

using namespace heed;

TEST_CASE("word_tokenizer: words to ids and back, capitals and signs aside") {
  const WordTokenizer words({"I", "übersetze", "Satz", "<end>"}, 1);
  CHECK(words.vocab_size() == 4);
  CHECK(words.encode("  i ÜBERSETZE,\n \"Satz\" !") == std::vector<int32_t>{0, 1, 2});
  CHECK(words.decode(std::vector<int32_t>{1, 2, 3}) == "übersetze Satz");
  CHECK(words.name(3) == "<end>");
  CHECK(words.id("<end>") == 3);
  CHECK(words.encode("").empty());
}

TEST_CASE("word_tokenizer: capitals of other scripts") {
  const WordTokenizer words({"привет", "Ελλάδα", "ÿ", "数"}, 0);
  CHECK(words.encode("ПРИВЕТ ελλάδα ΕΛΛΆΔΑ Ÿ 数") == std::vector<int32_t>{0, 1, 1, 2, 3});
  CHECK(words.decode(std::vector<int32_t>{3, 0}) == "数 привет");
}

TEST_CASE("word_tokenizer: what is not known is named with the nearest") {
  const WordTokenizer words({"journey", "step", "<end>"}, 1);
  CHECK_THROWS_WITH_AS(words.encode("step journy"),
                       "the word journy (word 2 of the text) is not in the vocabulary of 2 words, "
                       "did you mean journey?",
                       ConfigError);
  CHECK_THROWS_AS(words.encode("<end>"), ConfigError);
  CHECK_THROWS_AS(words.encode("\xff"), ConfigError);
  CHECK_THROWS_AS(words.id("steps"), ConfigError);
  CHECK_THROWS_AS(words.name(3), ShapeError);
  CHECK_THROWS_AS(WordTokenizer({"a", "a"}, 0), ConfigError);
}
