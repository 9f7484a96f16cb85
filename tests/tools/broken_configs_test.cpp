// Configs that are hostile, or too large for any machine. `validate` and `train` must reject each
// with exit code 2, little time and memory, and without training. What is said about others is in
// tests/messages.
#include <doctest/doctest.h>

#include <fstream>

#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

constexpr int64_t most_bytes = 200'000'000;  // of memory, for a file of any size

// `part` repeated `count` times, then `end`. Written piece by piece, because a program's measured
// memory includes that of the process that starts it.
struct Hostile {
  std::string part;
  int64_t count;
  std::string end, messages;
};

const std::vector<Hostile> hostile_files = {
    {std::string("\0\1\2\3", 4), 1, "", "1:1: a NUL byte; a config is a text file"},
    {"\211PNG\r\n\032\n", 1, "", "1:1: the byte 0x89 is not UTF-8; save the file as UTF-8"},
    {"seed: 1\n", 50'000'000 / 8, "", "1:1: the config is larger than 1 MiB"},
    {"[", 10'000, "]\n", "1:101: nested too deep, more than 16 levels"},
    {"{a: ", 10'000, "", "1:401: nested too deep, more than 16 levels"},
    {"- ", 10'000, "a\n", "1:1: nested too deep, more than 16 levels"},
    {"? ", 10'000, "a\n", "1:1: nested too deep, more than 16 levels"},
    {"- 1\n", 11'000, "", "10000:3: more than 10000 values"},
    {"\n", 30'000, "", "20001:1: the config has more than 20000 lines"},
    {"k", 900, ": 1\n", "1:1: a key of 900 bytes; at most 200"},
    {"\\", 1'000'000, "\n",
     "1:1: expected keys with values, such as `seed: 123`, got " + std::string(60, '\\') + "..."},
    {"'", 1'000'001, "\n", "1:1: the quote ' that begins here is not closed"},
    {"&a ", 300'000, "1\n", "1:4: tags (!name) and anchors (&name) are not allowed"},
    {"*a ", 300'000, "\n",
     "1:1: aliases (*name) are not allowed; put text that begins with * in quotes"},
};

// Nested keys, each indented by one more blank. 10,000 of them would exceed the size of a config.
std::string stairs(size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += std::string(i, ' ') + "a:\n";
  return all;
}

void write_hostile(const std::string& path, const Hostile& each) {
  std::ofstream file(path, std::ios::binary);
  for (int64_t i = 0; i < each.count; ++i) file << each.part;
  file << each.end;
  file.close();
  REQUIRE(file.good());
}

std::string without_name(std::string messages, const std::string& name) {
  for (size_t at; (at = messages.find(name + ":")) != std::string::npos;) {
    messages.erase(at, name.size() + 1);
  }
  return messages;
}

// Checks the messages of `validate` and `train`, their memory use, and that nothing is trained.
void check_refused(const TempDir& folder, const std::string& config, const std::string& messages) {
  const std::string out = (folder / "out").string();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"validate", config}, {"train", config, "--out", out}}) {
    const ProgramResult result = run_heed(words);
    CHECK(without_name(result.err, config) == messages + "\n");
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    CHECK(result.peak_bytes > 1'000'000);
    CHECK(result.peak_bytes < most_bytes);
  }
  CHECK(!fs::exists(out));
}

}  // namespace

TEST_CASE("broken configs: files that are hostile") {
  const TempDir folder;
  const std::string config = write_config(folder);
  int count = 0;
  for (const Hostile& each : hostile_files) {
    CAPTURE(each.part);
    write_hostile(config, each);
    check_refused(folder, config, each.messages);
    ++count;
  }
  CHECK(count >= 13);
  write_text(config, stairs(1'400));
  check_refused(folder, config, "101:1: nested too deep, more than 16 levels");
}

TEST_CASE("broken configs: a model that no machine has the memory for") {
  const TempDir folder;
  const std::string config = write_config(folder), out = (folder / "out").string();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"validate", config}, {"train", config, "--out", out}}) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"--set", "model.d_model=300000"});
    const ProgramResult result = run_heed(all);
    CHECK(result.exit_code == 2);
    CHECK_MESSAGE(result.err.starts_with(config + ":3:8: model: the run needs about "), result.err);
    CHECK(result.err.ends_with(" for it; make the model or the batch smaller\n"));
    CHECK(result.peak_bytes < most_bytes);
  }
  CHECK(!fs::exists(out));
}
