// Any bytes as a user's file of examples. The first byte gives the format and the columns, the
// second the task. Refused, every line of the message begins with the file; taken, all cells are
// UTF-8 and not empty, and batches stay within their vocabularies.
#include "layers/text/utf8.h"
#include "tests/support/temp_dir.h"
#include "tools/extras/own_data/tests/user_file.h"
#include "tools/extras/own_data/train/split_rows.h"

using namespace heed;
using heed::fuzz::expect;

namespace {

constexpr const char* extensions[] = {".tsv", ".csv", ".jsonl"};
constexpr const char* names[][2] = {{"", ""}, {"a", "b"}, {"2", "1"}, {"a", ""}};

void check_rows(const std::string& file, const std::string& bytes, uint8_t choice) {
  const auto& [first, second] = names[choice / 3 % 4];
  const std::vector<RowColumn> columns{RowColumn{"text", first},
                                       RowColumn{"label", second, choice >= 128}};
  const TextRows all = read_rows(bytes, file, columns);
  expect(!all.rows.empty(), "a row");
  for (const TextRow& row : all.rows) {
    expect(row.line >= 1, "a line");
    for (const std::string& cell : row.cells) {
      expect(!cell.empty(), "a cell with text");
      for (size_t at = 0; at < cell.size(); at += utf8_at(cell, at).size) {
        expect(utf8_at(cell, at).size > 0, "UTF-8");
      }
    }
  }
}

void check_ids(const Ids& ids, int64_t limit) {
  for (int64_t i = 0; i < ids.size(); ++i) {
    expect((ids.data()[i] >= 0 && ids.data()[i] < limit) || ids.data()[i] == ignored_target,
           "an id of the vocabulary");
  }
}

void check_task(const std::string& file, uint8_t choice) {
  const char* const tokenizers[] = {"char", "byte", "words"};
  const bool pairs = choice % 2 == 0;
  ConfigNode options = ConfigNode::map({{"path", file},
                                        {"tokenizer", tokenizers[choice / 2 % 3]},
                                        {"train_fraction", choice >= 128 ? 1.0 : 0.5}});
  const std::unique_ptr<Task> task =
      task_registry().make(pairs ? "pairs" : "labelled", options, TaskSetup{});
  Generator data(1);
  const Batch batch = task->data().next(3, data);
  for (const auto& [name, size] : task->model_sizes()) {
    if (name == "vocab_size") check_ids(batch.input.ids, size);
  }
  check_ids(batch.targets, task->output_size());
  expect(!task->description().empty() && !task->details().empty(), "a description");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const testing::TempDir folder;
  fuzz::Input input(data, size);
  const uint8_t format = input.byte(), choice = input.byte();
  const std::string bytes = input.rest();
  const std::string path = (folder / (std::string("rows") + extensions[format % 3])).string();
  fuzz::read_user_file(path, [&] { check_rows(path, bytes, format); });
  fuzz::write(path, bytes);
  fuzz::read_user_file(path, [&] { check_task(path, choice); });
  return 0;
}
