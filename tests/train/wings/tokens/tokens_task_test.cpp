#include "train/wings/tokens/tokens_task.h"

#include <doctest/doctest.h>

#include "autograd/random/fills.h"
#include "tests/support/temp_dir.h"
#include "train/files/files.h"

using namespace heed;
using heed::testing::TempDir;

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

std::string message_of(const std::string& bytes, int64_t vocab_size, const std::string& mark = "") {
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
  CHECK(message_of(good, 60) == "accepted");
  CHECK(message_of(good + "x", 60)
            .ends_with("x.bin: expected 16-bit ids, so an even number of bytes, got 121"));
  CHECK(message_of(good, 50).ends_with(
      "x.bin: expected ids below vocab_size 50, got 50 as token 50 (from 0)"));
  CHECK(message_of(file_of(counting(9, 1)), 60) == "TaskError path");
  CHECK(message_of("", 60) == "TaskError path");
  CHECK(message_of(good, 65536) == "accepted");
  CHECK(message_of(good, 65537).find("expected ids below vocab_size") != std::string::npos);
  CHECK(message_of(good + "xx", 65537).ends_with("expected 32-bit ids, so 4 bytes each, got 122"));
  const std::string mark = fingerprint(as_bytes(good)).text();
  CHECK(message_of(good, 60, mark) == "accepted");
  CHECK(message_of(file_of(counting(61, 1)), 61, mark).find("expected fingerprint " + mark) !=
        std::string::npos);
}

TEST_CASE("tokens: files with a header are refused, ids of 32 bits are read or suspected") {
  const std::string ids = file_of(counting(60, 1000));
  CHECK(
      message_of("\x93NUMPY\x01" + std::string(121, ' ') + ids, 60000).find("a file of NumPy's") !=
      std::string::npos);
  CHECK(message_of(file_of({1, 2, 3, 4}) + std::string(1016, '\0') + ids, 60000)
            .find("a header of 256 numbers?") != std::string::npos);
  CHECK(message_of(std::string(2000, '\0') + ids, 60000) == "accepted");
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
            "every second id is 0: are the ids of 64 bits? expected ids of 16 or 32 bits"});
  std::string floats;  // 1.0, 2.0, 1.0, ...
  for (int i = 0; i < 60; ++i) {
    floats += file_of({0, i % 2 == 0 ? 0x3F80 : 0x4000});
  }
  CHECK(MadeTokens(floats, 60000).task->warnings() ==
        std::vector<std::string>{"every second id is 0: floats, or ids with the high byte first?"});
  CHECK(MadeTokens(ids, 60000).task->warnings().empty());
  CHECK(message_of(std::string(200, '\0'), 60000) == "TaskError path");  // one token
}

TEST_CASE("tokens: what programs write by mistake is called by its name") {
  const auto refused = [](const std::string& bytes, const std::string& what) {
    const std::string message = message_of(bytes, 60000);
    CHECK_MESSAGE(message.find("x.bin: expected nothing but ids, got " + what) != std::string::npos,
                  message);
  };
  std::string decimals, small, narrow;
  for (int i = 0; i < 2000; ++i) {
    decimals += std::to_string(i) + (i % 10 == 9 ? "\n" : " ");
    narrow += static_cast<char>(i * 7 % 199);
    small += file_of({i * 7 % 199});
  }
  refused(decimals, "text: in Python, numpy.array(ids, 'uint16').tofile(other) writes ids alone");
  refused("Ein Satz ist keine Z\u00e4hlung.", "text: ");
  refused("\x1f\x8b\x08" + std::string(61, '\x01'), "a file of gzip: ");
  refused("PAR1" + std::string(60, '\x01'), "a file of Parquet: ");
  refused("(lp0\nI1\naI22\naI333\na.", "text: ");  // a pickle of protocol 0
  // pickle.dumps([1, 2, 300]), protocols 4 and 2
  refused(std::string("\x80\x04\x95\x0C\0\0\0\0\0\0\0]\x94(K\1K\2M,\1e.", 23), "a Python pickle: ");
  refused(
      "\x80\x02]q\x01(K\x01K\x02M,\x01"
      "e.",
      "a Python pickle: ");
  refused("PK\x03\x04" + std::string(100, 'x'),
          "an archive, as numpy.savez and torch.save write it: ");
  CHECK(message_of(narrow, 60000).find("expected ids of 16 bits, got what looks like ids of 8") !=
        std::string::npos);
  CHECK(MadeTokens(narrow, 60000, "", "uint16").task->data().training_tokens() == 900);
  CHECK(message_of(small, 60000) == "accepted");
}
