#include "tools/extras/bpe/train/bpe_tokenizer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "autograd/base/error.h"
#include "autograd/threads/parallel.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"
#include "tools/extras/bpe/train/read.h"
#include "tools/extras/bpe/train/read_json.h"
#include "tools/extras/bpe/train/write.h"
#include "train/files/files.h"

using namespace heed;
namespace fs = std::filesystem;

namespace {

const fs::path golden = fs::path(HEED_SOURCE_DIR) / "tests/golden/tokenizers";

BpeTokenizer golden_tokenizer(const std::string& name,
                              SpecialTokens special = SpecialTokens::as_text) {
  return {read_bpe(golden / name), name, special};
}

nlohmann::json golden_ids() {
  return nlohmann::json::parse(testing::read_text(golden / "ids.json"));
}

std::string verdict() {
  return testing::read_text(fs::path(HEED_SOURCE_DIR) / "configs/data/the-verdict.txt");
}

}  // namespace

TEST_CASE("bpe: the ids of Hugging Face's tokenizers and of tiktoken") {
  const nlohmann::json all = golden_ids();
  int64_t compared = 0;
  for (const auto& entry : all.items()) {
    const std::string what = entry.key();
    CAPTURE(what);
    const bool special = what.find(" with special tokens") != std::string::npos;
    const BpeTokenizer tokenizer =
        golden_tokenizer(what.substr(0, what.find(' ')),
                         special ? SpecialTokens::as_tokens : SpecialTokens::as_text);
    for (const nlohmann::json& one : entry.value()) {
      const auto given = one.at(0).get<std::string>();
      CAPTURE(given);
      const auto ids = one.at(1).get<std::vector<int32_t>>();
      CHECK(tokenizer.encode(given) == ids);
      CHECK(tokenizer.decode(ids) == given);
      ++compared;
    }
  }
  CHECK(compared > 180);
}

TEST_CASE("bpe: written and read again, a tokenizer is the same") {
  for (const char* name : {"gpt2.json", "gpt4.json", "digits.json", "pair.json", "ranks.json"}) {
    CAPTURE(name);
    const BpeModel model = read_bpe(golden / name);
    const std::string written = bpe_to_json(model);
    const BpeModel again = bpe_from_json(written, "again.json");
    CHECK(again == model);
    CHECK(bpe_to_json(again) == written);
  }
}

TEST_CASE("bpe: merges ranked by their result, in whatever order they are listed") {
  BpeModel model = read_bpe(golden / "ranks.json");
  model.ranked_by_result = true;
  std::reverse(model.merges.begin(), model.merges.end());
  CHECK(bpe_from_json(bpe_to_json(model), "again.json") == model);
  const BpeTokenizer tokenizer(model, "ranks.json");
  const nlohmann::json ids = golden_ids();
  for (const nlohmann::json& one : ids.at("ranks.json")) {
    CHECK(tokenizer.encode(one.at(0).get<std::string>()) == one.at(1).get<std::vector<int32_t>>());
  }
}

TEST_CASE("bpe: special tokens are text unless they are asked for") {
  const std::string given = "a<|endoftext|>b";
  const std::vector<int32_t> as_text = golden_tokenizer("gpt2.json").encode(given);
  const std::vector<int32_t> as_tokens =
      golden_tokenizer("gpt2.json", SpecialTokens::as_tokens).encode(given);
  CHECK(as_text.size() > 10);
  REQUIRE(as_tokens.size() == 3);
  CHECK(as_tokens[1] == 0);
  CHECK(golden_tokenizer("gpt2.json").name(0) == "<|endoftext|>");
}

TEST_CASE("bpe: bytes that are no UTF-8 come back, and names show what cannot be seen") {
  const BpeTokenizer tokenizer = golden_tokenizer("gpt4.json");
  for (const std::string given :
       {"\xFF", "a\xC3", "\xE2\x82 b", "a\xC3\xA9\xC3 the", "\x80\x80\x80"}) {
    CHECK(tokenizer.decode(tokenizer.encode(given)) == given);
  }
  CHECK(tokenizer.name(tokenizer.encode("\xC3")[0]) == "\\xC3");
  CHECK(tokenizer.name(tokenizer.encode(" the")[0]).starts_with("␣t"));
  CHECK(tokenizer.name(tokenizer.encode("\n")[0]) == "\\n");
  CHECK(tokenizer.name(tokenizer.encode(std::string(1, '\0'))[0]) == "\\x00");
  CHECK_THROWS_AS(tokenizer.decode(std::vector<int32_t>{-1}), ShapeError);
  CHECK_THROWS_AS(tokenizer.name(static_cast<int32_t>(tokenizer.vocab_size())), ShapeError);
}

TEST_CASE("bpe: any number of threads gives the same ids") {
  std::string text;
  while (text.size() < 300'000) text += verdict() + "   \n\n\t 12345  \xF0\x9F\x99\x82";
  const int before = num_threads();
  for (const char* name : {"gpt2.json", "gpt4.json", "digits.json"}) {
    CAPTURE(name);
    const BpeTokenizer tokenizer = golden_tokenizer(name);
    set_num_threads(1);
    const std::vector<int32_t> one = tokenizer.encode(text);
    for (const int threads : {2, 3, 7}) {
      set_num_threads(threads);
      CHECK(tokenizer.encode(text) == one);
    }
    CHECK(tokenizer.decode(one) == text);
  }
  set_num_threads(before);
}

TEST_CASE("bpe: a run takes the tokenizer of its checkpoint, and no other") {
  const testing::TempDir folder;
  const std::string stored = bpe_to_json(read_bpe(golden / "gpt2.json"));
  testing::write_text(folder / stored_tokenizer, stored);
  BpeTokenizer::Config config;
  config.path = "is/gone.json";
  config.fingerprint = fingerprint(as_bytes(stored)).text();
  const BpeTokenizer kept(config, {.config_folder = folder.path(), .checkpoint = folder.path()});
  CHECK(kept.stored() == stored);

  testing::write_text(folder / stored_tokenizer, bpe_to_json(read_bpe(golden / "gpt4.json")));
  CHECK_THROWS_AS(BpeTokenizer(config, {.checkpoint = folder.path()}), IoError);
  CHECK_THROWS_AS(BpeTokenizer(config, {.config_folder = folder.path()}), IoError);
}

// Values of tokenizers 0.23.
TEST_CASE("bpe: added tokens take white space with them, text is brought to NFC") {
  const auto tokenizer = [](const std::string& normalizer, const std::string& added) {
    return BpeTokenizer(
        bpe_from_json(
            R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},)"
            R"("normalizer": )" +
                normalizer +
                R"(, "model": {"merges": [], "vocab": )"
                R"({"a": 0, "b": 1, "\u0120": 2, "\u00c3": 3, "\u00a9": 4, "\u010a": 5}},)"
                R"("added_tokens": [{"id": 6, "content": "<m>", "normalized": false, )" +
                added + "}]}",
            "t.json"),
        "t.json");
  };
  const std::string text = "a  <m> \n b <m><m>";
  using Ids32 = std::vector<int32_t>;
  CHECK(tokenizer("null", R"("lstrip": true)").encode(text) == Ids32{0, 6, 2, 5, 2, 1, 6, 6});
  CHECK(tokenizer("null", R"("rstrip": true)").encode(text) == Ids32{0, 2, 2, 6, 1, 2, 6, 6});
  CHECK(tokenizer("null", R"("lstrip": true, "rstrip": true)").encode(text) ==
        Ids32{0, 6, 1, 6, 6});
  for (const char* normalizer :
       {R"({"type": "NFC"})", R"({"type": "Sequence", "normalizers": [{"type": "NFC"}]})"}) {
    const BpeTokenizer composes = tokenizer(normalizer, R"("lstrip": true)");
    CHECK(composes.encode("ae\u0301<m>") == Ids32{0, 3, 4, 6});
    CHECK(bpe_from_json(composes.stored(), "again.json") == composes.model());
  }
}
