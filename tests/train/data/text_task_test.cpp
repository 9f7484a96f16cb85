#include "train/data/text_task.h"

#include <doctest/doctest.h>

#include "autograd/random/fills.h"
#include "layers/text/utf8.h"
#include "tests/support/task_errors.h"
#include "train/files/files.h"

using namespace heed;
using namespace heed::testing;

namespace {

ConfigNode options(int64_t context_length, ConfigNode more = ConfigNode::map({})) {
  ConfigNode node = ConfigNode::map({{"path", "t.txt"}, {"context_length", context_length}});
  for (const ConfigNode& child : more.children()) {
    node.set(child.key(), child);
  }
  return node;
}

std::unique_ptr<Task> task_in(const TempDir& folder, const std::string& text,
                              const ConfigNode& config, int64_t batch_size = 0) {
  write_file_atomically(folder / "t.txt", text);
  const TaskSetup setup{.config_folder = folder.path(), .batch_size = batch_size};
  return task_registry().make("text", config, setup);
}

// A task with its own text file.
struct MadeText {
  MadeText(const std::string& text, const ConfigNode& config)
      : task(task_in(folder, text, config)) {}
  Task* operator->() const { return task.get(); }
  TempDir folder;
  std::unique_ptr<Task> task;
};

std::string text_error(const std::string& text, const ConfigNode& config, int64_t batch_size = 0) {
  const TempDir folder;
  return task_error(folder, [&] { task_in(folder, text, config, batch_size); });
}

std::string text_of(const Ids& ids, const Task& task) {
  return task.tokenizer()->decode(ids.span());
}

std::string letters(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += static_cast<char>('a' + i % 26);
  return text;
}

// The inputs of consecutive batches, as text.
std::string read_on(Task& task, int batches, int64_t batch_size, Generator& data) {
  std::string text;
  for (int i = 0; i < batches; ++i)
    text += text_of(task.data().next(batch_size, data).input.ids, task) + "|";
  return text;
}

}  // namespace

TEST_CASE("text: nanoGPT's windows") {
  const MadeText task(letters(100), options(8));
  CHECK(task->model_sizes() == std::vector<std::pair<std::string, int64_t>>{{"vocab_size", 26}});
  CHECK(task->data().training_tokens() == 90);
  CHECK(task->description() == "t.txt: 100 characters, 26 different");
  CHECK(task->data().position().empty());

  Generator data(7), same(7);
  for (int i = 0; i < 50; ++i) {
    const Batch batch = task->data().next(3, data);
    std::vector<int64_t> offsets(3);
    fill_randint(same, offsets, 0, 90 - 8);
    REQUIRE(batch.input.ids.shape() == Shape{3, 8});
    REQUIRE(batch.targets.shape() == Shape{3, 8});
    for (int64_t b = 0; b < 3; ++b) {
      for (int64_t t = 0; t < 8; ++t) {
        const int64_t at = offsets[static_cast<size_t>(b)] + t;
        REQUIRE(batch.input.ids.data()[b * 8 + t] == at % 26);
        REQUIRE(batch.targets.data()[b * 8 + t] == (at + 1) % 26);
      }
    }
  }
  CHECK(data.state() == same.state());
}

TEST_CASE("text: the parts of a text and their fixed windows") {
  const MadeText task(letters(100), options(8, ConfigNode::map({{"train_fraction", 0.5}})));
  CHECK(task->data().example_count(Split::train) == 6);  // 0, 8, ..., 40 + 8 < 50
  CHECK(task->data().example_count(Split::validation) == 6);
  const Batch batch = task->data().examples(Split::validation, {1, 3});
  CHECK(text_of(batch.input.ids, *task.task) ==
        letters(100).substr(58, 8) + letters(100).substr(74, 8));
  CHECK(text_of(batch.targets, *task.task) ==
        letters(100).substr(59, 8) + letters(100).substr(75, 8));
  CHECK_THROWS_AS(task->data().examples(Split::validation, {5, 6}), ShapeError);
  CHECK_THROWS_AS(task->data().examples(Split::validation, {-1}), ShapeError);

  const MadeText whole(letters(100), options(8, ConfigNode::map({{"train_fraction", 1.0}})));
  CHECK(whole->data().training_tokens() == 100);
  CHECK(whole->data().example_count(Split::validation) == 0);
}

TEST_CASE("text: the windows of tinyshakespeare") {
  const std::filesystem::path file =
      std::string(HEED_SOURCE_DIR) + "/configs/data/tinyshakespeare.txt";
  TaskSetup setup;
  setup.config_folder = file.parent_path();
  const auto task = task_registry().make(
      "text", ConfigNode::map({{"path", "tinyshakespeare.txt"}, {"context_length", 64}}), setup);
  CHECK(task->data().example_count(Split::validation) == 1742);
  CHECK(task->description() == "tinyshakespeare.txt: 1,115,394 characters, 65 different");
  CHECK(task->data().training_tokens() == 1003854);
}

TEST_CASE("text: windows in the order of a DataLoader, epoch after epoch") {
  const ConfigNode windows =
      ConfigNode::map({{"sampling", "windows"}, {"stride", 5}, {"train_fraction", 1.0}});
  const MadeText task(letters(60), options(8, windows));
  Generator data(3), same(3);
  int64_t compared = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    const std::vector<int64_t> order =
        data_loader_order(data_loader_seed(same), 11);  // 0, 5, ..., 50
    for (size_t first = 0; first + 4 <= order.size(); first += 4) {
      const Batch batch = task->data().next(4, data);
      for (int64_t b = 0; b < 4; ++b, ++compared) {
        REQUIRE(batch.input.ids.data()[b * 8] == order[first + static_cast<size_t>(b)] * 5 % 26);
      }
    }
  }
  CHECK(compared == 24);
  CHECK(data.state() == same.state());
}

TEST_CASE("text: windows in order") {
  const ConfigNode windows =
      ConfigNode::map({{"sampling", "windows"}, {"shuffle", false}, {"train_fraction", 1.0}});
  const MadeText task(letters(33), options(8, windows));
  Generator data(3), same(3);
  CHECK(read_on(*task.task, 2, 3, data) == letters(24) + "|" + letters(24) + "|");
  data_loader_unshuffled(same);
  data_loader_unshuffled(same);
  CHECK(data.state() == same.state());
}

TEST_CASE("text: goes on from a position as if nothing had been") {
  for (const bool random : {true, false}) {
    for (const bool shuffle : {true, false}) {
      const ConfigNode windows =
          ConfigNode::map({{"sampling", "windows"}, {"shuffle", shuffle}, {"stride", 3}});
      const ConfigNode config =
          options(8, random ? ConfigNode::map({{"sampling", "random"}}) : windows);
      for (int before = 0; before < 12; ++before) {
        const MadeText task(letters(100), config), other(letters(100), config);
        Generator data(5);
        read_on(*task.task, before, 4, data);
        const std::vector<int64_t> position = task->data().position();
        const GeneratorState state = data.state();
        const std::string rest = read_on(*task.task, 12, 4, data);
        Generator again(1);
        again.set_state(state);
        other->data().set_position(position);
        CHECK(read_on(*other.task, 12, 4, again) == rest);
        again.set_state(state);
        task->data().set_position(
            position);  // setting the position in the same task, as make_plan does
        CHECK(read_on(*task.task, 12, 4, again) == rest);
      }
    }
  }
  const MadeText task(letters(100), options(8));
  CHECK_THROWS_AS(task->data().set_position({1, 2}), IoError);
  const MadeText windows(letters(100), options(8, ConfigNode::map({{"sampling", "windows"}})));
  CHECK_THROWS_AS(windows->data().set_position({1}), IoError);
  CHECK_THROWS_AS(windows->data().set_position({1, 100}), IoError);
  CHECK_THROWS_AS(windows->data().set_position({-1, 0}), IoError);
}

TEST_CASE("text: a dry run draws nothing") {
  const MadeText task(letters(100), options(8, ConfigNode::map({{"sampling", "windows"}})));
  Generator data(5);
  const GeneratorState state = data.state();
  const DryRun dry;
  CHECK(task->data().next(2, data).targets.shape() == Shape{2, 8});
  CHECK(data.state() == state);
  CHECK(task->data().position().empty());
}

TEST_CASE("text: batches come from the pool") {
  const MadeText task(letters(1000), options(64));
  Generator data(5);
  task->data().next(12, data);
  const int64_t misses = pool::stats().misses;
  for (int i = 0; i < 20; ++i) task->data().next(12, data);
  CHECK(pool::stats().misses == misses);
}

TEST_CASE("text: bytes, and more characters than 16 bits hold") {
  const MadeText bytes("aé" + letters(100), options(8, ConfigNode::map({{"tokenizer", "byte"}})));
  CHECK(bytes->model_sizes()[0].second == 256);
  CHECK(bytes->description() == "t.txt: 103 bytes");
  CHECK(text_of(bytes->data().examples(Split::train, {0}).input.ids, *bytes.task) == "aéabcde");

  std::string text;
  for (char32_t code = 0x10000; code < 0x10000 + 70000; ++code) append_utf8(text, code);
  const MadeText many(text, options(8));
  CHECK(many->model_sizes()[0].second == 70000);
  const Ids last =
      many->data()
          .examples(Split::validation, {many->data().example_count(Split::validation) - 1})
          .input.ids;
  CHECK(last.data()[7] - last.data()[0] == 7);
  CHECK(last.data()[7] > 69000);
}

TEST_CASE("text: a byte order mark at the beginning is no character of it") {
  const std::string mark = "\xEF\xBB\xBF", text = "ab" + letters(100);
  for (const char* tokenizer : {"char", "byte"}) {
    const ConfigNode config = options(8, ConfigNode::map({{"tokenizer", tokenizer}}));
    const MadeText marked(mark + text, config), plain(text, config);
    CHECK(marked->model_sizes() == plain->model_sizes());
    CHECK(marked->data().training_tokens() == plain->data().training_tokens());
    CHECK(text_of(marked->data().examples(Split::train, {0}).input.ids, *marked.task) ==
          "ababcdef");
  }
  CHECK(MadeText("a" + mark + letters(100), options(8))->model_sizes()[0].second == 27);
}

// What is wrong with a text is in tests/messages/configs.
TEST_CASE("text: too few windows for a batch; no folder") {
  const ConfigNode windows = ConfigNode::map({{"sampling", "windows"}});
  const MadeText task(letters(100), options(8, windows));
  Generator data;
  CHECK_THROWS_AS(task->data().next(12, data), TaskError);

  TaskSetup nowhere;
  nowhere.config_folder = "/nonexistent";
  CHECK_THROWS_AS(task_registry().make("text", options(8), nowhere), IoError);
}

TEST_CASE("text: another file than the one of the run") {
  const std::string text = letters(100);
  const std::string right = fingerprint(as_bytes(text)).text();
  CHECK(text_error(text, options(8, ConfigNode::map({{"fingerprint", right}}))) == "accepted");
  const std::string message =
      text_error(text + "x", options(8, ConfigNode::map({{"fingerprint", right}})));
  CHECK(message.find("expected fingerprint " + right + ", got xxh64:") != std::string::npos);
  const MadeText task(text, options(8));
  CHECK(task->fingerprint() == right);
}

TEST_CASE("text: of more than ten files none is cut in two") {
  const TempDir folder;
  std::filesystem::create_directory(folder / "texts");
  for (int k = 0; k < 11; ++k) {
    write_file_atomically(folder / text("texts/", k), letters(20));
  }
  const TaskSetup setup{.config_folder = folder.path()};
  const auto made = [&](double train_fraction) {
    return task_registry().make(
        "text",
        options(8, ConfigNode::map({{"path", "texts"}, {"train_fraction", train_fraction}})),
        setup);
  };
  const std::unique_ptr<Task> task = made(0.9);  // 216 of 240 tokens; a file and two newlines: 22
  CHECK(task->data().training_tokens() == 220);
  CHECK(text_of(task->data().examples(Split::validation, {0}).input.ids, *task) == letters(8));
  CHECK(made(0.5)->data().training_tokens() == 132);
  CHECK(made(1)->data().training_tokens() == 240);
  std::filesystem::remove(folder / "texts/7");
  CHECK(made(0.9)->data().training_tokens() == 196);  // of 218
}
