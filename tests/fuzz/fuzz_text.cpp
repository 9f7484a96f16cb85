// Any bytes as a text to tokenize, or as a file of text or of tokens to train on. The first byte
// says which; for files, the second and third choose among the fields of the data section.
#include <algorithm>
#include <span>

#include "layers/text/utf8.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/temp_dir.h"
#include "train/data/task.h"
#include "train/tokenizers/tokenizer.h"

using namespace heed;
using heed::fuzz::expect;

namespace {

void expect_ids(const Ids& ids, int64_t vocab_size) {
  for (const int32_t id : std::span(ids.data(), static_cast<size_t>(ids.size()))) {
    expect((id >= 0 && id < vocab_size) || id == ignored_target, "an id of the vocabulary");
  }
}

// What is encoded decodes to itself.
void check_round_trip(const Tokenizer& tokenizer, const std::string& text) {
  const std::vector<int32_t> ids = tokenizer.encode(text);
  for (const int32_t id : ids) {
    expect(id >= 0 && id < tokenizer.vocab_size(), "an id of the vocabulary");
  }
  expect(tokenizer.decode(ids) == text, "the text to come back");
  for (const int32_t id : ids) {
    const std::string shown = tokenizer.name(id);
    expect(!shown.empty() && shown.find('\n') == std::string::npos, "a token that can be seen");
  }
}

// A file with NULs is refused, as one in UTF-16; a tokenizer of characters takes them.
void check_tokenizers(const std::string& text) {
  check_round_trip(ByteTokenizer(), text);
  const bool is_utf8 = first_wrong_byte(text) == text.size();
  try {
    check_utf8(text, "fuzz");
    expect(is_utf8 && text.find('\0') == std::string::npos, "a refusal");
  } catch (const IoError& error) {
    expect(std::string(error.what()).starts_with("fuzz: expected UTF-8, got the byte 0x"),
           "the byte at fault");
    expect(!is_utf8 || text.find('\0') != std::string::npos, "no refusal");
  }
  try {
    const CharTokenizer tokenizer(text);
    expect(is_utf8, "a refusal");
    check_round_trip(tokenizer, text);
    const auto characters =
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
    expect(std::ssize(tokenizer.encode(text)) == characters, "as many tokens");
  } catch (const IoError&) {
    expect(!is_utf8, "no refusal");
  }
}

// A task on a file with these bytes: batches and examples stay within the vocabulary.
void check_task(const std::string& type, ConfigNode options, const std::string& bytes) {
  if (task_registry().types().find(type) == nullptr) return;  // of an extra that is left out
  static const testing::TempDir folder;
  const std::filesystem::path path = folder / "data";
  fuzz::write(path, bytes);
  options.set("path", path.string());
  try {
    TaskSetup setup;
    setup.batch_size = 2;
    const std::unique_ptr<Task> task = task_registry().make(type, options, setup);
    const int64_t vocab_size = task->model_sizes().front().second;
    Generator generator(1);
    for (int i = 0; i < 3; ++i) {
      const Batch batch = task->data().next(2, generator);
      expect_ids(batch.input.ids, vocab_size);
      expect_ids(batch.targets, vocab_size);
    }
    task->data().set_position(task->data().position());
    for (const Split split : {Split::train, Split::validation}) {
      if (const int64_t count = task->data().example_count(split); count > 0) {
        expect_ids(task->data().examples(split, {count - 1}).targets, vocab_size);
      }
    }
    expect(!task->description().empty(), "a description");
  } catch (const TaskError& error) {
    expect(!error.field.empty(), "the field at fault");
  } catch (const IoError& error) {
    expect(std::string(error.what()).starts_with(path.string()), "the file at fault");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const uint8_t kind = input.byte();
  if (kind % 3 == 0) {
    check_tokenizers(input.rest());
    return 0;
  }
  const uint8_t numbers = input.byte(), choices = input.byte();
  ConfigNode options = ConfigNode::map({{"context_length", 1 + numbers % 16},
                                        {"train_fraction", (1 + numbers / 16) / 16.0},
                                        {"sampling", choices & 1 ? "windows" : "random"},
                                        {"shuffle", (choices & 3) != 1}});
  if (kind % 3 == 1) {
    options.set("tokenizer", choices & 4 ? "byte" : "char");
    check_task("text", options, input.rest());
  } else {
    options.set("vocab_size", int64_t{1} << (choices >> 4) | (choices & 4));
    check_task("tokens", options, input.rest());
  }
  return 0;
}
