// Ids of 32 bits, and bits a byte. What heed tokenizer says: tests/transcripts/tokenizer.txt.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "tests/support/training_run.h"
#include "train/evaluate.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

ProgramResult tokenizer(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "tokenizer");
  return run_heed(arguments);
}

}  // namespace

TEST_CASE(
    "heed tokenizer: ids of 32 bits where 16 are not enough, and the tokens task reads them") {
  const TempDir folder;
  std::string vocabulary = R"({"model": {"vocab": {)";
  for (int id = 0; id < 66'000; ++id) {  // "aaa", "aab", ...; a byte is one of the letters
    vocabulary += heed::text(id == 0 ? "" : ",", "\"", static_cast<char>('a' + id / 2704 % 52),
                             static_cast<char>('a' + id % 26), id, "\":", 26 + id);
  }
  for (int letter = 0; letter < 26; ++letter) {
    vocabulary += heed::text(",\"", static_cast<char>('a' + letter), "\":", letter);
  }
  vocabulary +=
      R"(}, "merges": []}, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}})";
  write_text(folder / "wide.json", vocabulary);
  write_text(folder / "t.txt", "abcabcabcabcabcabcabcabcabcabcabc");
  const std::string bin = (folder / "x.bin").string();
  const ProgramResult result = tokenizer({"encode", (folder / "t.txt").string(), "--tokenizer",
                                          (folder / "wide.json").string(), "--out", bin});
  REQUIRE_MESSAGE(result.exit_code == 0, result.err);
  CHECK(contains(result.out, "33 tokens of 32 bits, little-endian (16 are not enough for 66,026"));
  CHECK(fs::file_size(bin) == 4 * 33);
  const std::unique_ptr<Task> task = task_registry().make(
      "tokens", ConfigNode::map({{"path", bin}, {"vocab_size", 66'026}, {"context_length", 2}}),
      {});
  CHECK(task->data().examples(Split::train, {0}).input.ids.data()[1] == 1);
}

TEST_CASE("bits a byte: of characters and bytes, the loss over the bytes of the text") {
  const TempDir folder;
  for (const char* name : {"char", "byte"}) {
    LoadedRun loaded = load_small(folder, {heed::text("data.tokenizer=", name)});
    apply_settings(loaded.config);
    const std::unique_ptr<Module> model = make_layer(loaded.config.model);
    const Evaluation of = evaluate(*model, *loaded.task, Split::validation, 4, {});
    REQUIRE(of.bits_per_byte);
    CHECK(*of.bits_per_byte == doctest::Approx(of.loss / std::log(2.0)));  // the text is ASCII
    CHECK(loaded.resolved.get("data").get("tokenizer").text() == name);
  }
}
