#include "tools/extras/bpe/train/train.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "autograd/base/error.h"
#include "tests/support/run_program.h"
#include "tools/extras/bpe/train/bpe_tokenizer.h"
#include "tools/extras/bpe/train/read.h"
#include "tools/extras/bpe/train/read_json.h"
#include "tools/extras/bpe/train/write.h"

using namespace heed;
namespace fs = std::filesystem;

namespace {

using Ids32 = std::vector<int32_t>;

const fs::path source = HEED_SOURCE_DIR;

BpeModel learned(const std::string& text, BpeTraining options) {
  BpeTrainer trainer(std::move(options));
  trainer.add(text);
  return trainer.train();
}

// The merges as text: "a b" ...
std::vector<std::string> merges_of(const BpeModel& model) {
  std::vector<std::string> all;
  for (const auto& [left, right] : model.merges) {
    all.push_back(model.tokens[static_cast<size_t>(left)] + "+" +
                  model.tokens[static_cast<size_t>(right)]);
  }
  return all;
}

}  // namespace

TEST_CASE("bpe training: the merges and ids of Hugging Face's trainer") {
  const std::string text = testing::read_text(source / "configs/data/the-verdict.txt");
  for (const char* pattern : {"gpt2", "gpt4"}) {
    CAPTURE(pattern);
    const BpeModel theirs =
        read_bpe(source / "tests/golden/tokenizers" / (pattern + std::string(".json")));
    BpeTraining options{.vocab_size = 340, .special = {"<|endoftext|>"}};
    options.pattern = theirs.rules.at(0).pattern;
    const BpeModel ours = learned(text, options);
    CHECK(ours.merges.size() == 83);
    CHECK(ours == theirs);
  }
}

TEST_CASE("bpe training: the higher count, then the smaller pair") {
  // "ab" and "cd" come three times each, "ef" four times.
  const std::string text = "cd cd cd ab ab ab ef ef ef ef";
  const std::vector<std::string> merges = merges_of(learned(text, {.vocab_size = 259}));
  CHECK(merges == std::vector<std::string>{"e+f", " +ef", "a+b"});
  // Overlapping: "aaaa" is two pairs from the left.
  CHECK(merges_of(learned("aaaa\naaaa\n", {.vocab_size = 258})) ==
        std::vector<std::string>{"a+a", "aa+aa"});
}

TEST_CASE("bpe training: stops when no pair is frequent enough") {
  CHECK(learned("abc", {.vocab_size = 1000}).tokens.size() == 256);
  CHECK(learned("abc", {.vocab_size = 1000, .min_count = 1}).tokens.size() == 258);
  CHECK(learned("ab ab", {.vocab_size = 256}).merges.empty());
}

TEST_CASE("bpe training: what is wrong") {
  CHECK_THROWS_AS(learned("ab", {.vocab_size = 255}), ConfigError);
  CHECK_THROWS_AS(learned("ab", {.vocab_size = 256, .special = {"<s>"}}), ConfigError);
  CHECK_THROWS_AS(learned("ab", {.vocab_size = 300, .special = {"<s>", "<s>"}}), ConfigError);
  CHECK_THROWS_AS(learned("ab", {.vocab_size = 300, .special = {""}}), ConfigError);
  CHECK_THROWS_AS(learned("ab", {.vocab_size = 300, .special = {"a"}}), ConfigError);
  CHECK_THROWS_AS(learned("", {.vocab_size = 300}), ConfigError);
}

TEST_CASE("bpe training: no text becomes a special token") {
  for (const char* byte : {" ", "\n", "\t", "\u0120"}) {
    CAPTURE(byte);
    CHECK_THROWS_AS(learned("ab", {.vocab_size = 300, .special = {byte}}), ConfigError);
  }
  std::string corpus;
  for (int i = 0; i < 200; ++i) {
    corpus += "END cat\nEND dog\nEND END\n";
  }
  const BpeModel model = learned(corpus, {.vocab_size = 300, .special = {"END"}});
  const BpeTokenizer tokenizer(model, "en.json");
  CHECK(tokenizer.decode(tokenizer.encode("END cat")) == "END cat");
  CHECK(tokenizer.encode("END").size() == 2);  // EN D, or E ND
  CHECK(BpeTokenizer(model, "en.json", SpecialTokens::as_tokens).encode("END") == Ids32{0});
  CHECK(bpe_from_json(bpe_to_json(model), "en.json") == model);

  // A file whose merges make one, as Hugging Face's tokenizers learn them, is read without those.
  const BpeTokenizer other(
      bpe_from_json(R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
          "model": {"vocab": {"END": 0, "E": 1, "N": 2, "D": 3, "EN": 4},
                    "merges": [["E", "N"], ["EN", "D"]]},
          "added_tokens": [{"id": 0, "content": "END", "special": true}]})",
                    "t.json"),
      "t.json");
  CHECK(other.encode("END") == Ids32{4, 3});
}
