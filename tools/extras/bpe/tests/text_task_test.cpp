// Runs without a text, as `heed import` makes them.
#include "train/data/text_task.h"

#include <doctest/doctest.h>

#include "autograd/base/modes.h"
#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"
#include "train/evaluate.h"

using namespace heed;
using namespace heed::testing;

namespace {

const char* const three_letters =
    R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
        "model": {"type": "BPE", "merges": [], "vocab": {"a": 0, "b": 1, "c": 2}}})";

std::unique_ptr<Task> made(const TempDir& folder, const std::string& checkpoint) {
  const ConfigNode tokenizer = ConfigNode::map({{"type", "bpe"}, {"path", "gone.json"}});
  const ConfigNode options =
      ConfigNode::map({{"path", ""}, {"tokenizer", tokenizer}, {"context_length", 5}});
  return task_registry().make(
      "text", options,
      TaskSetup{.config_folder = folder.path(), .checkpoint = checkpoint, .batch_size = 2});
}

}  // namespace

TEST_CASE("text without its file: a tokenizer, and no examples") {
  const TempDir folder;
  write_text(folder / stored_tokenizer, three_letters);
  const auto task = made(folder, folder.path());
  CHECK(task->model_sizes().front().second == 3);
  CHECK(task->tokenizer()->encode("cab") == std::vector<int32_t>{2, 0, 1});
  CHECK(task->data().example_count(Split::train) + task->data().example_count(Split::validation) ==
        0);
  Generator generator(1);
  CHECK(error_of([&] { task->data().next(2, generator); }) ==
        "data: no file to take examples from; --set data.path=FILE gives it one");
  const DryRun dry;
  CHECK(task->data().next(2, generator).input.ids.shape() == Shape{2, 5});
}

TEST_CASE("text without its file: a config of one's own needs a text") {
  const TempDir folder;
  CHECK(error_of([&] { made(folder, ""); }) == "expected a text file, got nothing");
}
