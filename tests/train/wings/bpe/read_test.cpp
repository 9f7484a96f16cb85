#include "train/wings/bpe/read.h"

#include <doctest/doctest.h>

#include "autograd/base/error.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"
#include "train/wings/bpe/read_json.h"

using namespace heed;
using testing::contains;
using testing::TempDir;

namespace {

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const IoError& error) {
    return error.what();
  }
  return "accepted";
}

// A tokenizer.json with these parts in place of the usual ones.
std::string file_with(
    const std::string& vocabulary = R"({"a": 0, "b": 1, "ab": 2})",
    const std::string& merges = R"([["a", "b"]])", const std::string& more = "",
    const std::string& model = "",
    const std::string& rules = R"({"type": "ByteLevel", "add_prefix_space": false})") {
  return R"({"pre_tokenizer": )" + rules + more + R"(, "model": {"type": "BPE", "vocab": )" +
         vocabulary + R"(, "merges": )" + merges + model + "}}";
}

}  // namespace

TEST_CASE("tokenizer.json: broken files are refused by key") {
  const auto with_rules = [](const std::string& rules) {
    return file_with(R"({"a": 0})", "[]", "", "", rules);
  };
  const auto with_added = [](const std::string& added) {
    return file_with(R"({"a": 0, "b": 1, "ab": 2})", "[]", R"(, "added_tokens": )" + added);
  };
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "expected JSON, got an error at line 1"},
      {"{\n\"model\": }", "expected JSON, got an error at line 2, column 10"},
      {"[]", "t.json: : expected model, got array"},
      {"{}", "expected model, got an object without it"},
      {R"({"model": {"type": "WordPiece"}})", "model.type: expected BPE, got \"WordPiece\""},
      {std::string(100, '['), "levels of brackets"},
      {file_with("[]"), "model.vocab: expected an object {token: id, ...}, got []"},
      {file_with("{}"), "model.vocab: expected an object {token: id, ...}"},
      {file_with(R"({"a": "0"})"), "model.vocab[a]: expected an id, a whole number, got \"0\""},
      {file_with(R"({"a": 1.5})"), "model.vocab[a]: expected an id"},
      {file_with(R"({"a": -1})"), "model.vocab[a]: expected an id from 0 to"},
      {file_with(R"({"a": 4000000000000})"), "expected an id from 0 to 1025, got 4000000000000"},
      {file_with(R"({"a": 0, "b": 1, "a": 2})"),
       "expected every key of an object once, got a twice"},
      {R"({"model": 1, "model": 2})", "expected every key of an object once, got model twice"},
      {file_with(R"({"a": 0, "b": 0})"),
       "model.vocab[b]: expected an id of its own, got 0, which is that of a"},
      {file_with(R"({"": 0})"), "model.vocab[]: expected a token, got nothing"},
      {file_with(R"({"好": 0})"), "model.vocab[好]: expected a token in the alphabet of bytes"},
      {file_with(R"({"a": 0, "b": 1})"),
       "model.merges[0]: expected two tokens whose merge is a token too, got a and b"},
      {file_with(R"({"a": 0})"),
       "model.merges[0]: expected two tokens of the vocabulary, got a and b"},
      {file_with(R"({"a": 0})", R"(["a"])"), "model.merges[0]: expected two tokens, \"a b\" or"},
      {file_with(R"({"a": 0})", R"([["a"]])"), "model.merges[0]: expected two tokens"},
      {file_with(R"({"a": 0})", R"([7])"), "model.merges[0]: expected two tokens"},
      {file_with(R"({"a": 0})", "{}"), "model.merges: expected a list of merges"},
      {file_with(R"({"a": 0})", "[]", R"(, "normalizer": {"type": "NFKC"})"),
       "normalizer: expected none"},
      {file_with(R"({"a": 0})", "[]", "", R"(, "byte_fallback": true)"),
       "model.byte_fallback: expected none"},
      {file_with(R"({"a": 0})", "[]", "", R"(, "dropout": 0.1)"), "model.dropout: expected none"},
      {file_with(R"({"a": 0})", "[]", "", R"(, "end_of_word_suffix": "</w>")"),
       "model.end_of_word_suffix"},
      {file_with(R"({"a": 0})", "[]", "", R"(, "ignore_merges": 1)"),
       "model.ignore_merges: expected true or false, got 1"},
      {with_rules("null"), "pre_tokenizer: expected ByteLevel"},
      {with_rules(R"({"type": "Whitespace"})"),
       "pre_tokenizer.type: expected ByteLevel, Split, Digits or Sequence"},
      {with_rules(R"({"type": "Sequence"})"), "pre_tokenizer: expected pretokenizers"},
      {with_rules(
           R"({"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}, {"type": "Digits"}]})"),
       "pre_tokenizer.pretokenizers[1]: expected ByteLevel to be the last one, got Digits after "
       "it"},
      {with_rules(R"({"type": "Split", "pattern": {}, "behavior": "Isolated"})"),
       "pre_tokenizer.pattern: expected {Regex: ...}"},
      {with_rules(R"({"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Contiguous"})"),
       "pre_tokenizer.behavior: expected Isolated or Removed"},
      {with_rules(
           R"({"type": "Sequence", "pretokenizers": [{"type": "Digits"}, {"type": "ByteLevel"}]})"),
       "add_prefix_space: expected false after other pre-tokenizers, got true"},
      {with_added("7"), "added_tokens: expected a list of added tokens"},
      {with_added(R"([{"content": "<s>"}])"), "added_tokens[0]: expected id"},
      {with_added(R"([{"id": -5, "content": "<s>"}])"), "added_tokens[0].id: expected an id"},
      {with_added(R"([{"id": 99999, "content": "<s>"}])"),
       "added_tokens[0]: expected an id from 0"},
      {with_added(R"([{"id": 0, "content": "<s>"}])"),
       "added_tokens[0]: expected an id of its own, got 0, which is that of a"},
      {with_added(R"([{"id": 5, "content": ""}])"),
       "added_tokens[0]: expected a token, got nothing"},
      {with_added(R"([{"id": 5, "content": "<s>", "single_word": true}])"),
       "added_tokens[0].single_word: expected none"},
      {with_added(R"([{"id": 5, "content": "<s>", "lstrip": 1}])"),
       "added_tokens[0].lstrip: expected true or false, got 1"},
      {file_with(R"({"a": 0})", "[]",
                 R"(, "normalizer": {"type": "NFC"}, "added_tokens": )"
                 R"([{"id": 5, "content": "<s>", "normalized": true}])"),
       "added_tokens[0].normalized: expected none"},
      {with_added(R"([{"id": 5, "content": "<s>"}, {"id": 6, "content": "<s>"}])"),
       "added_tokens[1]: expected every added token once"}};
  for (const auto& [content, expected] : cases) {
    const std::string file = content;
    CAPTURE(file);
    const std::string message = refusal([&] { bpe_from_json(file, "t.json"); });
    CAPTURE(message);
    CHECK(message.starts_with("t.json: "));
    CHECK(contains(message, expected));
    CHECK(!contains(message, "\n"));
  }
  CHECK(bpe_from_json(file_with(), "t.json").merges.size() == 1);
}

TEST_CASE("read_bpe: other formats are refused with the Python that converts them") {
  const TempDir folder;
  const std::string at = folder.path().string() + "/";
  const std::string of_pair = R"(these lines of Python (pip install transformers) convert it:
  from transformers import GPT2TokenizerFast
)";
  for (const auto& [vocabulary, merges] :
       {std::pair("my-vocab.json", "my-merges.txt"), {"encoder.json", "vocab.bpe"}}) {
    const std::string lines =
        of_pair + "  tokenizer = GPT2TokenizerFast(\"" + at + vocabulary + "\", \"" + at + merges +
        "\").backend_tokenizer\n  tokenizer.save(\"" + at + "tokenizer.json\")";
    for (const char* name : {vocabulary, merges}) {
      CHECK(refusal([&] { read_bpe(folder / name); }) ==
            at + name + ": expected a tokenizer.json, got one of two files as GPT-2 has them; " +
                lines);
    }
  }
  CHECK(refusal([&] { read_bpe(folder / "x.tiktoken"); }) ==
        at +
            "x.tiktoken: expected a tokenizer.json, got a file of tiktoken's; these lines of "
            "Python " +
            "(pip install transformers tiktoken) convert it:\n" +
            "  from transformers.convert_slow_tokenizer import TikTokenConverter\n" +
            "  tokenizer = TikTokenConverter(\"" + at +
            "x.tiktoken\").converted()  # cuts as GPT-4 " +
            "does; others: pattern=..., extra_special_tokens=[...]\n" + "  tokenizer.save(\"" + at +
            "tokenizer.json\")");
  CHECK(contains(refusal([&] { read_bpe(folder / "none.json"); }), "none.json"));
}

TEST_CASE("read_bpe: a tokenizer.json is one by its contents, whatever its name is") {
  const TempDir folder;
  for (const char* name : {"my_vocab.json", "vocab.json", "encoder.json", "t.tiktoken"}) {
    CAPTURE(name);
    testing::write_text(folder / name, file_with());
    CHECK(read_bpe(folder / name).merges.size() == 1);
    testing::write_text(folder / name, R"({"a": 0, "\"model\": {": 1, "model": 2})");
    CHECK(contains(refusal([&] { read_bpe(folder / name); }), "expected a tokenizer.json, got "));
  }
}

TEST_CASE("find_tokenizer: tokenizer.json before what has to be converted") {
  const TempDir folder;
  CHECK(find_tokenizer(folder.path()).empty());
  CHECK(find_tokenizer(folder / "none").empty());
  for (const char* name : {"b.tiktoken", "a.tiktoken", "encoder.json", "vocab.json"}) {
    testing::write_text(folder / name, "{}");
    CHECK(find_tokenizer(folder.path()) == folder / name);
    CHECK(contains(refusal([&] { read_bpe(folder.path()); }),
                   text(name, ": expected a tokenizer.json, got ")));
  }
  testing::write_text(folder / "tokenizer.json", file_with());
  CHECK(find_tokenizer(folder.path()) == folder / "tokenizer.json");
  CHECK(read_bpe(folder / "tokenizer.json").merges.size() == 1);
}
