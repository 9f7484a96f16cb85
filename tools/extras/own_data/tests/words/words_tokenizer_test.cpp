#include "tools/extras/own_data/train/words_tokenizer.h"

#include "tests/support/near.h"
#include "train/data/text_stream.h"
#include "train/tokenizers/vocabulary.h"

using namespace heed;
using namespace heed::testing;

namespace {

using Ids32 = std::vector<int32_t>;

WordsTokenizer word_list(const std::vector<std::string_view>& corpus,
                         const WordsTokenizer::Config& c = {}) {
  return {c, TokenizerSetup{{}, {}, corpus}};
}

}  // namespace

TEST_CASE("words: words with what is inside them, punctuation apart, no blanks") {
  const WordsTokenizer words =
      word_list({"It's a well-known fact, isn't it? 3.5 \u00e9t\u00e9", "(no)\n\"yes\"  #1"});
  CHECK(words.decode(words.encode("(no) fact, isn't it?")) == "(no) fact, isn't it?");
  CHECK(words.decode(words.encode("a  well-known\n\u00e9t\u00e9")) == "a well-known \u00e9t\u00e9");
  CHECK(words.encode("isn't").size() == 1);
  CHECK(words.encode("3.5").size() == 3);
}

TEST_CASE("words: a word of any length") {
  std::string word = "a";
  for (int i = 0; i < 300'000; ++i) word += "-a";
  const WordsTokenizer words = word_list({word});
  CHECK(words.vocab_size() == 1);
  CHECK(words.encode(word).size() == 1);
}

TEST_CASE("words: a sorted vocabulary; without rare words every unknown one is an error") {
  const WordsTokenizer words = word_list({"b a b", "c"});
  CHECK(words.vocab_size() == 3);
  CHECK(words.encode("a b c") == Ids32{0, 1, 2});
  CHECK(words.name(2) == "c");
  CHECK(error_of([&] { words.encode("a bb c d"); }) ==
        "the words bb, d (the first is word 2 of the text) are not in the vocabulary of 3 words"
        " (tokenizer {type: words, min_count: 2} has <unk> for such words)");
  CHECK(error_of([&] { words.encode("a caf\xe9"); }) == "the text is not UTF-8 at byte 5");
  CHECK(error_of([&] { words.encode("\xc3"); }) == "the text is not UTF-8 at byte 0");
  CHECK(!words.is_lossless());
}

TEST_CASE("words: rare ones and unknown ones are <unk>") {
  WordsTokenizer::Config c;
  c.min_count = 2;
  const WordsTokenizer words = word_list({"b a b a", "c"}, c);
  CHECK(words.vocab_size() == 3);
  CHECK(words.encode("a c zebra b") == Ids32{0, 2, 2, 1});
  CHECK(words.decode(Ids32{0, 2, 1}) == "a <unk> b");
  c = {};
  c.most = 1;
  CHECK(word_list({"b a b"}, c).encode("b a") == Ids32{0, 1});
  CHECK(word_list({"<unk> a"}).encode("<unk>") == Ids32{0, 3, 1});  // as text it is three tokens
}

TEST_CASE("words: the vocabulary of a checkpoint") {
  const WordsTokenizer words = word_list({"b a b a"});
  TokenizerSetup setup;
  setup.vocabulary = words.vocabulary();
  CHECK(WordsTokenizer({}, setup).encode("b a") == Ids32{1, 0});
  CHECK(CharTokenizer({}, {.vocabulary = CharTokenizer("ba").vocabulary()}).encode("ba") ==
        Ids32{1, 0});
}

TEST_CASE("words: a text goes on with the blanks that decoding has lost") {
  const WordsTokenizer words = word_list({"yes, no"});
  const Ids32 yes = words.encode("yes"), rest = words.encode(", no yes");
  CHECK(decode_after(words, yes[0], rest) == ", no yes");
  TextStream stream(words);
  std::string all = stream.push("yes", yes[0]);
  for (const int32_t id : rest) all += stream.push(id);
  CHECK(all + stream.finish() == "yes, no yes");
}
