#include "tools/extras/bpe/train/read.h"

#include <doctest/doctest.h>

#include "autograd/base/error.h"
#include "tests/support/broken_files.h"
#include "tests/support/errors.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"
#include "tools/extras/bpe/train/read_json.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::string good_tokenizer =
    R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "model": )"
    R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}})";

}  // namespace

TEST_CASE("tokenizer.json: broken files are refused by key") {
  CHECK(check_broken("tokenizer_json.txt", [](const BrokenFile& broken) {
          return message_of<IoError>([&] { bpe_from_json(broken.content, broken.setting); });
        }) == 46);
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
      CHECK(message_of<IoError>([&] { read_bpe(folder / name); }) ==
            at + name + ": expected a tokenizer.json, got one of two files as GPT-2 has them; " +
                lines);
    }
  }
  CHECK(message_of<IoError>([&] { read_bpe(folder / "x.tiktoken"); }) ==
        at +
            "x.tiktoken: expected a tokenizer.json, got a file of tiktoken's; these lines of "
            "Python " +
            "(pip install transformers tiktoken) convert it:\n" +
            "  from transformers.convert_slow_tokenizer import TikTokenConverter\n" +
            "  tokenizer = TikTokenConverter(\"" + at +
            "x.tiktoken\").converted()  # cuts as GPT-4 " +
            "does; others: pattern=..., extra_special_tokens=[...]\n" + "  tokenizer.save(\"" + at +
            "tokenizer.json\")");
  CHECK(contains(message_of<IoError>([&] { read_bpe(folder / "none.json"); }), "none.json"));
}

TEST_CASE("read_bpe: a tokenizer.json is one by its contents, whatever its name is") {
  const TempDir folder;
  for (const char* name : {"my_vocab.json", "vocab.json", "encoder.json", "t.tiktoken"}) {
    CAPTURE(name);
    write_text(folder / name, good_tokenizer);
    CHECK(read_bpe(folder / name).merges.size() == 1);
    write_text(folder / name, R"({"a": 0, "\"model\": {": 1, "model": 2})");
    CHECK(contains(message_of<IoError>([&] { read_bpe(folder / name); }),
                   "expected a tokenizer.json, got "));
  }
}

TEST_CASE("find_tokenizer: tokenizer.json before what has to be converted") {
  const TempDir folder;
  CHECK(find_tokenizer(folder.path()).empty());
  CHECK(find_tokenizer(folder / "none").empty());
  for (const char* name : {"b.tiktoken", "a.tiktoken", "encoder.json", "vocab.json"}) {
    write_text(folder / name, "{}");
    CHECK(find_tokenizer(folder.path()) == folder / name);
    CHECK(contains(message_of<IoError>([&] { read_bpe(folder.path()); }),
                   text(name, ": expected a tokenizer.json, got ")));
  }
  write_text(folder / "tokenizer.json", good_tokenizer);
  CHECK(find_tokenizer(folder.path()) == folder / "tokenizer.json");
  CHECK(read_bpe(folder / "tokenizer.json").merges.size() == 1);
}
