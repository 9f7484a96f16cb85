// Any bytes as a config file. Refused, every message begins with a place inside the file; taken,
// the config says the same once written out and read again.
#include <algorithm>
#include <charconv>
#include <sstream>

#include "layers/config/describe.h"
#include "layers/config/read.h"
#include "tests/fuzz/fuzz.h"
#include "train/config/run_config.h"
#include "train/optim/optimizer.h"
#include "train/optim/schedule.h"
#include "train/yaml/yaml.h"

using namespace heed;
using heed::fuzz::expect;

namespace {

constexpr const char* name = "fuzz.yaml";

// One or more lines "fuzz.yaml:<line>:<column>: ..." about a text of that many lines; of very many
// the last one may say how many more there are.
void check_messages(const std::string& messages, int64_t lines) {
  std::istringstream stream(messages);
  int count = 0;
  for (std::string message; std::getline(stream, message); ++count) {
    if (count == 200 && stream.eof() && message.starts_with("... and ")) return;
    const std::string begin = std::string(name) + ":";
    expect(message.starts_with(begin), "a place, got " + message);
    const char* end = message.data() + message.size();
    int64_t line = 0, column = 0;
    const char* after = std::from_chars(message.data() + begin.size(), end, line).ptr;
    expect(after < end && *after == ':', "a line, got " + message);
    after = std::from_chars(after + 1, end, column).ptr;
    expect(end - after > 2 && after[0] == ':' && after[1] == ' ', "a column, got " + message);
    expect(line >= 1 && line <= lines && column >= 1, "a place in the file, got " + message);
  }
  expect(count > 0, "a message");
}

ConfigNode read_again(const ConfigNode& tree) { return parse_config(to_yaml(tree), "again.yaml"); }

// The sections of a run; the data that they name is not looked at.
void check_fields(const ConfigNode& tree, int64_t lines) {
  ConfigErrors errors;
  RunConfig config;
  config.purpose = tree.has("train") ? Purpose::train : Purpose::model;
  read_struct(config_ref(config), tree, errors);
  if (!errors.empty()) {
    try {
      errors.throw_if_any();
    } catch (const ConfigError& error) {
      check_messages(error.what(), lines);
    }
    return;
  }
  const ConfigNode resolved = write_fields(config);
  RunConfig second;
  second.purpose = config.purpose;
  const ConfigNode written = read_again(resolved);
  read_struct(config_ref(second), written, errors);
  expect(errors.empty(), "the resolved config to be taken");
  expect(write_fields(second) == resolved, "the resolved config to read back to itself");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  layer_registry(), optimizer_registry(), schedule_registry(), task_registry();
  const std::string text(reinterpret_cast<const char*>(data), size);
  const int64_t lines = std::count(text.begin(), text.end(), '\n') + 1;
  try {
    const ConfigNode tree = parse_config(text, name);
    expect(read_again(tree) == tree, "the tree to read back to itself");
    check_fields(tree, lines);
  } catch (const ConfigError& error) {
    check_messages(error.what(), lines);
  }
  return 0;
}
