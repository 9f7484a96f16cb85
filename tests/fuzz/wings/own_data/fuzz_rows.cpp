// Any bytes as a user's file of examples. The first byte gives the format and the columns, the
// second the task. Refused, every line of the message begins with the file; taken, all cells are
// UTF-8 and not empty, and batches stay within their vocabularies.
#include <sstream>

#include "layers/text/utf8.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/temp_dir.h"
#include "train/data/task.h"
#include "train/wings/own_data/split_rows.h"

using namespace heed;
using heed::fuzz::expect;

namespace {

constexpr const char* extensions[] = {".tsv", ".csv", ".jsonl"};
constexpr const char* names[][2] = {{"", ""}, {"a", "b"}, {"2", "1"}, {"a", ""}};

void check_message(const std::string& message, const std::string& file) {
  std::istringstream lines(message);
  int64_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    expect(line.starts_with(file), "the file at fault, got " + line);
    expect(line.find('\0') == std::string::npos, "no control characters");
  }
  expect(count >= 1 && count <= 11, "at most ten mistakes and their number");
}

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
  try {
    check_rows(path, bytes, format);
  } catch (const RowError& error) {
    check_message(error.what(), path);
  }
  fuzz::write(path, bytes);
  try {
    check_task(path, choice);
  } catch (const RowError& error) {
    check_message(error.what(), path);
  } catch (const TaskError& error) {
    expect(!error.field.empty(), "the field at fault");
  } catch (const IoError& error) {
    const std::string message = error.what();
    expect(message == path + ": is a Git LFS pointer: git lfs pull fetches the file", message);
  }
  return 0;
}
