#include "tools/extras/own_data/train/tokens_task.h"

#include <doctest/doctest.h>

#include "autograd/random/fills.h"
#include "tests/support/broken_files.h"
#include "tests/support/temp_dir.h"
#include "train/files/files.h"

using namespace heed;
using namespace heed::testing;

namespace {

// The bytes of a file of little-endian 16-bit ids.
std::string file_of(const std::vector<int>& ids) {
  std::string bytes;
  for (const int id : ids) {
    bytes += static_cast<char>(id & 0xFF);
    bytes += static_cast<char>(id >> 8);
  }
  return bytes;
}

std::vector<int> counting(int count, int step) {
  std::vector<int> ids;
  for (int i = 0; i < count; ++i) ids.push_back(i * step);
  return ids;
}

struct MadeTokens {
  MadeTokens(const std::string& bytes, int64_t vocab_size, const std::string& mark = "",
             const std::string& dtype = "auto") {
    write_file_atomically(folder / "x.bin", bytes);
    TaskSetup setup;
    setup.config_folder = "/";
    const ConfigNode config = ConfigNode::map({{"path", (folder / "x.bin").string()},
                                               {"vocab_size", vocab_size},
                                               {"context_length", 4},
                                               {"dtype", dtype},
                                               {"fingerprint", mark}});
    task = task_registry().make("tokens", config, setup);
  }
  TempDir folder;
  std::unique_ptr<Task> task;
};

std::string tokens_error(const std::string& bytes, int64_t vocab_size,
                         const std::string& mark = "") {
  try {
    const MadeTokens made(bytes, vocab_size, mark);
  } catch (const IoError& error) {
    return "IoError " + std::string(error.what());
  } catch (const TaskError& error) {
    return "TaskError " + error.field;
  } catch (const ConfigError& error) {
    return "ConfigError " + std::string(error.what());
  }
  return "accepted";
}

}  // namespace

TEST_CASE("tokens: reads little-endian ids") {
  const MadeTokens made(file_of(counting(60, 1000)), 60000);
  Task& task = *made.task;
  CHECK(task.model_sizes() == std::vector<std::pair<std::string, int64_t>>{{"vocab_size", 60000}});
  CHECK(task.tokenizer() == nullptr);
  CHECK(task.data().training_tokens() == 54);
  CHECK(task.description() == "x.bin: 60 tokens out of 60,000, 16 bits each");
  CHECK(task.data().example_count(Split::train) == 13);
  const Batch batch = task.data().examples(Split::validation, {0});
  for (int i = 0; i < 4; ++i) {
    CHECK(batch.input.ids.data()[i] == (54 + i) * 1000);
    CHECK(batch.targets.data()[i] == (55 + i) * 1000);
  }
  Generator data(1), same(1);
  std::vector<int64_t> offsets(5);
  fill_randint(same, offsets, 0, 50);
  const Batch next = task.data().next(5, data);
  for (int64_t b = 0; b < 5; ++b) {
    CHECK(next.input.ids.data()[b * 4] == offsets[static_cast<size_t>(b)] * 1000);
  }
}

TEST_CASE("tokens: a file that is none") {
  const std::string good = file_of(counting(60, 1));
  CHECK(tokens_error(good, 60) == "accepted");
  CHECK(tokens_error(good + "x", 60)
            .ends_with("x.bin: expected 16-bit ids, so an even number of bytes, got 121"));
  CHECK(tokens_error(good, 50).ends_with(
      "x.bin: expected ids below vocab_size 50, got 50 as token 50 (from 0)"));
  CHECK(tokens_error(file_of(counting(9, 1)), 60) == "TaskError path");
  CHECK(tokens_error("", 60) == "TaskError path");
  CHECK(tokens_error(good, 65536) == "accepted");
  CHECK(tokens_error(good, 65537).find("expected ids below vocab_size") != std::string::npos);
  CHECK(
      tokens_error(good + "xx", 65537).ends_with("expected 32-bit ids, so 4 bytes each, got 122"));
  const std::string mark = fingerprint(as_bytes(good)).text();
  CHECK(tokens_error(good, 60, mark) == "accepted");
  CHECK(tokens_error(file_of(counting(61, 1)), 61, mark).find("expected fingerprint " + mark) !=
        std::string::npos);
}

TEST_CASE("tokens: ids of 32 bits are read or suspected") {
  const std::string ids = file_of(counting(60, 1000));
  CHECK(tokens_error(std::string(2000, '\0') + ids, 60000) == "accepted");
  std::string wide;
  for (const int id : counting(60, 1000)) {
    wide += file_of({id, 0});
  }
  const MadeTokens narrow(wide, 60000), wider(wide, 60000, "", "uint32");
  CHECK(narrow.task->warnings().size() == 1);
  CHECK(wider.task->warnings().empty());
  CHECK(wider.task->description() == "x.bin: 60 tokens out of 60,000, 32 bits each");
  std::string widest;
  for (const int id : counting(60, 1000)) {
    widest += file_of({id, 0, 0, 0});
  }
  CHECK(MadeTokens(widest, 60000, "", "uint32").task->warnings() ==
        std::vector<std::string>{
            "every second id is 0: are the ids of 64 bits? in Python, numpy.fromfile(path, "
            "'int64').astype('uint32').tofile(other) writes them"});
  std::string floats;  // 1.0, 2.0, 1.0, ...
  for (int i = 0; i < 60; ++i) {
    floats += file_of({0, i % 2 == 0 ? 0x3F80 : 0x4000});
  }
  CHECK(MadeTokens(floats, 60000).task->warnings() ==
        std::vector<std::string>{"every second id is 0: floats, or ids with the high byte first?"});
  CHECK(MadeTokens(ids, 60000).task->warnings().empty());
  CHECK(tokens_error(std::string(200, '\0'), 60000) == "TaskError path");  // one token
}

TEST_CASE("tokens: what programs write by mistake is called by its name") {
  const auto said = [](const std::string& bytes) {
    const std::string message = tokens_error(bytes, 60000);
    return message.substr(std::min(message.find("x.bin: "), message.size()));
  };
  CHECK(check_broken("tokens.txt",
                     [&](const BrokenFile& broken) { return said(broken.content); }) == 11);
  std::string decimals, small, narrow;
  for (int i = 0; i < 2000; ++i) {
    decimals += std::to_string(i) + (i % 10 == 9 ? "\n" : " ");
    narrow += static_cast<char>(i * 7 % 199);
    small += file_of({i * 7 % 199});
  }
  CHECK(said(decimals).starts_with("x.bin: expected nothing but ids, got text: in Python"));
  CHECK(said(narrow).starts_with("x.bin: expected ids of 16 bits, got what looks like ids of 8"));
  CHECK(MadeTokens(narrow, 60000, "", "uint16").task->data().training_tokens() == 900);
  CHECK(tokens_error(small, 60000) == "accepted");
}
