// Any bytes as a file of documents. The first byte gives the format, the tokenizer, the mark and
// the split. Refused, every line of the message begins with the file or the field is known; taken,
// every document begins with its mark, ends with one, and stays within its vocabulary.
#include "tests/support/temp_dir.h"
#include "tools/extras/own_data/tests/user_file.h"

using namespace heed;
using heed::fuzz::expect;

namespace {

constexpr const char* extensions[] = {".txt", ".jsonl"};
constexpr const char* tokenizers[] = {"char", "byte", "words"};

void check_examples(const Task& task, Split split, bool marked) {
  const int64_t vocab_size = task.model_size("vocab_size");
  for (int64_t i = 0; i < task.data().example_count(split); ++i) {
    const Batch batch = task.data().examples(split, {i});
    const int64_t length = batch.input.ids.dim(1);
    const int32_t *ids = batch.input.ids.data(), *targets = batch.targets.data();
    expect(length <= task.model_size("context_length"), "a document within the context");
    int64_t counted = 0;
    while (counted < length && targets[counted] != ignored_target) ++counted;
    expect(counted >= 2, "a token and an end");
    for (int64_t at = 0; at < length; ++at) {
      expect(ids[at] >= 0 && ids[at] < vocab_size, "an id of the vocabulary");
      expect(at + 1 >= counted || targets[at] == ids[at + 1], "the next token");
      expect(at < counted || targets[at] == ignored_target, "padding after the end");
    }
    expect(ids[0] == (marked ? '\n' : vocab_size - 2), "a beginning");
    expect(targets[counted - 1] == (marked ? '\n' : vocab_size - 1), "an end");
    const ReadableExamples& shown = *task.readable_examples();
    expect(!shown.location(split, i).empty(), "a line");
    expect(!(shown.input_text(split, i) + shown.target_text(split, i)).empty() ||
               task.tokenizer()->unit() == std::string("word"),
           "a text");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const testing::TempDir folder;
  fuzz::Input input(data, size);
  const uint8_t choice = input.byte();
  const std::string tokenizer = tokenizers[choice / 2 % 3];
  const std::string path = (folder / (std::string("lines") + extensions[choice % 2])).string();
  fuzz::write(path, input.rest());
  ConfigNode options = ConfigNode::map(
      {{"path", path}, {"tokenizer", tokenizer}, {"train_fraction", choice >= 128 ? 1.0 : 0.5}});
  const bool marked = tokenizer == "byte" && choice % 16 >= 8;
  if (marked) {
    options.set("mark", ConfigNode::scalar("\n", true));
  }
  fuzz::read_user_file(path, [&] {
    const std::unique_ptr<Task> task = task_registry().make("lines", options, TaskSetup{});
    check_examples(*task, Split::train, marked);
    check_examples(*task, Split::validation, marked);
    expect(!task->description().empty() && !task->details().empty(), "a description");
  });
  return 0;
}
