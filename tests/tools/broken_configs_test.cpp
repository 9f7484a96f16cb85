// Broken configs. `validate` and `train` must reject each with its position and a fix, exit code 2,
// little time and memory, and without training.
#include <doctest/doctest.h>

#include <fstream>

#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

constexpr int64_t most_bytes = 200'000'000;  // of memory, for a file of any size

const std::string right_config = R"(data: {type: text, path: text.txt, train_fraction: 0.8}
model:
  type: gpt
  context_length: 8
  d_model: 12
  num_heads: 3
  num_layers: 1
optimizer:
  lr: 1e-2
train:
  steps: 12
  batch_size: 4
)";

std::string right_with(const std::string& before, const std::string& after) {
  std::string text = right_config;
  const size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  return text.replace(at, before.size(), after);
}

// The correct config with `before` replaced by `after`; or `after` alone, if `before` is empty.
// Messages are given without the file's name.
struct Broken {
  std::string before, after, messages;
};

const std::vector<Broken> broken = {
    {"d_model: 12", "d_model: twelve",
     "5:12: model.d_model: expected a whole number of at least 1, got twelve"},
    {"d_model: 12", "d_model: 12.5",
     "5:12: model.d_model: expected a whole number of at least 1, got 12.5"},
    {"d_model: 12", "d_model: 12.0",
     "5:12: model.d_model: expected a whole number of at least 1, got 12.0; write 12"},
    {"d_model: 12", "d_model: \"12\"",
     "5:12: model.d_model: expected a whole number of at least 1, got the text \"12\"; write it "
     "without quotes"},
    {"d_model: 12", "d_model: [12]",
     "5:12: model.d_model: expected a whole number of at least 1, got a list"},
    {"d_model: 12", "d_model: {is: 12}",
     "5:12: model.d_model: expected a whole number of at least 1, got a map"},
    {"d_model: 12",
     "d_model:", "5:3: model.d_model: missing value, expected a whole number of at least 1"},
    {"d_model: 12", "d_model: true",
     "5:12: model.d_model: expected a whole number of at least 1, got true"},
    {"d_model: 12", "d_model: 1_000",
     "5:12: model.d_model: expected a whole number of at least 1, got 1_000; write 1000, nothing "
     "separates thousands"},
    {"d_model: 12", "d_model: 0x10",
     "5:12: model.d_model: expected a whole number of at least 1, got 0x10; write it in decimals: "
     "16"},
    {"d_model: 12", "d_model: 0o14",
     "5:12: model.d_model: expected a whole number of at least 1, got 0o14; write it in decimals: "
     "12"},
    {"d_model: 12", "d_model: 010",
     "5:12: model.d_model: expected a whole number of at least 1, got 010; write it without "
     "leading zeros: 10"},
    {"lr: 1e-2", "lr: fast", "9:7: optimizer.lr: expected a number of at least 0, got fast"},
    {"lr: 1e-2", "lr: 0,01",
     "9:7: optimizer.lr: expected a number of at least 0, got 0,01; decimals begin with a point, "
     "and nothing separates thousands"},
    {"lr: 1e-2", "lr: 00.5",
     "9:7: optimizer.lr: expected a number of at least 0, got 00.5; write it without leading "
     "zeros: 0.5"},
    {"lr: 1e-2", "lr: 1e-2x", "9:7: optimizer.lr: expected a number of at least 0, got 1e-2x"},
    {"num_layers: 1", "num_layers: 1\n  bias: no",
     "8:9: model.bias: expected true or false, got no; write false"},
    {"num_layers: 1", "num_layers: 1\n  bias: 'no'",
     "8:9: model.bias: expected true or false, got the text \"no\"; write false"},
    {"num_layers: 1", "num_layers: 1\n  bias: 1",
     "8:9: model.bias: expected true or false, got 1; write true"},
    {"num_layers: 1", "num_layers: 1\n  bias: True",
     "8:9: model.bias: expected true or false, got True; write true"},
    {"lr: 1e-2", "betas: 0.9",
     "9:10: optimizer.betas: expected a list of 2 numbers from 0 to below 1, got 0.9"},
    {"lr: 1e-2", "betas: [0.9, high]",
     "9:16: optimizer.betas.1: expected a number from 0 to below 1, got high"},
    {"lr: 1e-2", "betas: [0.9]",
     "9:10: optimizer.betas: expected a list of 2 numbers from 0 to below 1, got 1 element"},
    {"optimizer:\n  lr: 1e-2", "optimizer: adamw",
     "8:12: optimizer: expected an optimizer, written {type: NAME, ...}, got adamw; write {type: "
     "adamw}"},
    {"train:\n  steps: 12\n  batch_size: 4", "train: 12", "10:8: train: expected a map, got 12"},
    {"steps: 12", "steps: 0", "11:10: train.steps: expected a whole number of at least 1, got 0"},
    {"steps: 12", "steps: -5", "11:10: train.steps: expected a whole number of at least 1, got -5"},
    {"steps: 12", "steps: 1e3",
     "11:10: train.steps: expected a whole number of at least 1, got 1e3; write 1000"},
    {"steps: 12", "steps: 99999999999999999999",
     "11:10: train.steps: out of range, expected a whole number of at least 1, got "
     "99999999999999999999; whole numbers go from -9223372036854775808 to 9223372036854775807"},
    {"num_layers: 1", "num_layers: 100000",
     "7:15: model.num_layers: expected a whole number from 1 to 1000, got 100000"},
    {"num_layers: 1", "num_layers: 1\n  dropout: 1.0",
     "8:12: model.dropout: expected a number from 0 to below 1, got 1.0"},
    {"lr: 1e-2", "lr: -1", "9:7: optimizer.lr: expected a number of at least 0, got -1"},
    {"lr: 1e-2", "lr: 1e400",
     "9:7: optimizer.lr: out of range, expected a number of at least 0, got 1e400; numbers go from "
     "about 2e-308 to 2e308, and 0"},
    {"lr: 1e-2", "lr: 1e-400",
     "9:7: optimizer.lr: out of range, expected a number of at least 0, got 1e-400; numbers go "
     "from about 2e-308 to 2e308, and 0"},
    {"lr: 1e-2", "lr: .nan", "9:7: optimizer.lr: expected a number of at least 0, got .nan"},
    {"lr: 1e-2", "lr: nan", "9:7: optimizer.lr: expected a number of at least 0, got nan"},
    {"lr: 1e-2", "lr: .inf", "9:7: optimizer.lr: expected a number of at least 0, got .inf"},
    {"lr: 1e-2", "lr: inf", "9:7: optimizer.lr: expected a number of at least 0, got inf"},
    {"lr: 1e-2", "betas: [0.9, 1.5]",
     "9:16: optimizer.betas.1: expected a number from 0 to below 1, got 1.5"},
    {"train_fraction: 0.8", "train_fraction: 2",
     "1:52: data.train_fraction: expected a number above 0 up to 1, got 2"},
    {"d_model: 12", "d_model: 9000000000000000000",
     "3:3: model: shape: more elements than a 64-bit count can hold"},
    {"batch_size: 4", "batch_size: 4000000000000",
     "12:15: train.batch_size: expected a whole number from 1 to 1000000, got 4000000000000"},
    {"d_model: 12", "d_model: 9000000000000000",
     "3:3: model: the run needs more memory than any machine can address; make the model or the "
     "batch smaller"},
    {"d_model: 12", "d_model: 3000000000",
     "3:3: model: shape: more elements than a 64-bit count can hold"},
    {"num_layers: 1", "num_layers: 1\n  hidden_multiplier: 9000000000000000000",
     "3:3: model: shape: more elements than a 64-bit count can hold"},
    {"batch_size: 4", "batch_size: 4\n  accumulate: 1000000000000",
     "13:15: train.accumulate: expected a whole number from 1 to 1000000, got 1000000000000"},
    {"d_model: 12", "d_modle: 12",
     "3:3: model.d_model: missing, expected a whole number of at least 1 (width of the embeddings "
     "and blocks)\n5:3: model.d_modle: unknown key, did you mean d_model?"},
    {"d_model: 12", "d_model: 12\n  lr: 1e-2", "6:3: model.lr: here it is optimizer.lr"},
    {"optimizer:", "optimiser:", "8:1: optimiser: unknown key, did you mean optimizer?"},
    {"  steps: 12", "steps: 12",
     "12:3: indented further than the line above, whose key has a value already; keys that belong "
     "together begin in the same column"},
    {"d_model: 12", "d_model: 12\n  d_model: 16",
     "6:3: model.d_model: this key is given twice, on line 5 and on line 6; remove one"},
    {"train:\n", "train:\n  steps: 1\n",
     "12:3: train.steps: this key is given twice, on line 11 and on line 12; remove one"},
    {"d_model: 12", "",
     "3:3: model.d_model: missing, expected a whole number of at least 1 (width of the embeddings "
     "and blocks)"},
    {"type: gpt", "type: gtp", "3:9: model.type: unknown layer gtp, did you mean gpt?"},
    {"  type: gpt\n", "",
     "3:3: model.type: missing, expected the name of a layer; see heed layers"},
    {"type: text", "type: txt", "1:14: data.type: unknown task txt, did you mean text?"},
    {"lr: 1e-2", "momentum: 0.9",
     "9:3: optimizer.momentum: unknown key; the keys here are lr, betas, eps, weight_decay, decay"},
    {"model:", "Model:",
     "1:1: model: missing, expected a layer, written {type: NAME, ...} (what to train)\n2:1: "
     "Model: unknown key, did you mean model?"},
    {"d_model: 12", "d_model : 12\n  ? x",
     "6:5: model.x: unknown key; the nearest are bias and norm; see heed layers gpt"},
    {"num_heads: 3", "num_heads: 5",
     "6:14: model.num_heads: must divide d_model: d_model is 12, num_heads is 5; possible are 1, "
     "2, "
     "3, 4, 6, 12"},
    {"d_model: 12", "d_model: 12\n  vocab_size: 99",
     "6:15: model.vocab_size: expected 21, as the data has it, or nothing; got 99"},
    {"train_fraction: 0.8", "context_length: 9",
     "1:52: data.context_length: must be at most model.context_length 8, got 9"},
    {"train_fraction: 0.8", "sampling: windows, stride: 0",
     "1:63: data.stride: expected a whole number of at least 1 or context_length, got 0"},
    {"d_model: 12", "d_model: &d 12", "5:12: model.d_model: anchors (&name) are not allowed"},
    {"d_model: 12", "d_model: *d",
     "5:12: aliases (*name) are not allowed; put text that begins with * in quotes"},
    {"model:\n", "model: &m\n", "2:8: model: anchors (&name) are not allowed"},
    {"d_model: 12", "<<: {a: 1}",
     "3:3: model.d_model: missing, expected a whole number of at least 1 (width of the embeddings "
     "and blocks)\n5:3: model.<<: merge keys (<<) are not allowed; write the values out"},
    {"d_model: 12", "d_model: !!int 12", "5:12: model.d_model: tags (!name) are not allowed"},
    {"  d_model: 12", "\td_model: 12", "5:1: a tab in the indentation; indent with spaces"},
    {"optimizer:", "---\noptimizer:",
     "8:1: a second document begins here; a config is one document"},
    {"  d_model: 12", "   d_model: 12",
     "5:4: indented further than the line above, whose key has a value already; keys that belong "
     "together begin in the same column"},
    {"  d_model: 12", " d_model: 12",
     "5:2: indented by 1, the line above by 2; keys that belong together begin in the same column"},
    {"  d_model: 12", "d_model: 12",
     "6:3: indented further than the line above, whose key has a value already; keys that belong "
     "together begin in the same column"},
    {"d_model: 12", "d_model:12", "5:3: there must be a space after the colon"},
    {"d_model: 12", "d_model 12", "5:3: expected a colon after the key"},
    {"d_model: 12", "d_model: 12: 13",
     "5:14: a colon that does not belong here; look for a key without its colon or wrong "
     "indentation above, or put text that contains a colon in quotes"},
    {"path: text.txt, train_fraction: 0.8}", "path: text.txt",
     "2:6: expected a comma, or the } for the bracket on line 1, column 7"},
    {"path: text.txt", "path: 'text.txt", "1:26: the quote ' that begins here is not closed"},
    {"d_model: 12", "d_model: ]", "5:12: a closing bracket without an opening one"},
    {"d_model: 12", "d_model: @12",
     "5:12: a character that no value begins with; put the text in quotes"},
    {"data: {type", "%YAML 1.2\n---\ndata: {type", "1:1: directives (%) are not allowed"},
    {"", "", "1:1: the config is empty; it needs at least a model: section"},
    {"", "# nothing\n", "1:1: the config is empty; it needs at least a model: section"},
    {"", "---\n", "1:1: the config is empty; it needs at least a model: section"},
    {"", "just words\n", "1:1: expected keys with values, such as `seed: 123`, got just words"},
    {"", "- a\n- b\n", "1:1: expected keys with values, such as `seed: 123`, got a list"},
    {"", "{}\n",
     "1:1: train.steps: missing, expected a whole number of at least 1 (optimizer steps)\n1:1: "
     "train.batch_size: missing, expected a whole number from 1 to 1000000 (sequences in a "
     "micro-batch)\n1:1: data: missing, expected a task, written {type: NAME, ...} (what to train "
     "on)\n1:1: model: missing, expected a layer, written {type: NAME, ...} (what to train)"},
    {"", "\177ELF\002\001", "1:1: the control character 0x7F; write \"\\x7F\" in double quotes"},
};

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

TEST_CASE("broken configs: one mistake at a time") {
  const TempDir folder;
  const std::string config = write_config(folder, right_config);
  REQUIRE(run_heed({"validate", config}).exit_code == 0);
  int count = 0;
  for (const Broken& each : broken) {
    CAPTURE(each.before);
    CAPTURE(each.after);
    write_text(config, each.before.empty() ? each.after : right_with(each.before, each.after));
    check_refused(folder, config, each.messages);
    ++count;
  }
  CHECK(count >= 75);
}

TEST_CASE("broken configs: files that are hostile") {
  const TempDir folder;
  const std::string config = write_config(folder, right_config);
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
  const std::string config = write_config(folder, right_with("d_model: 12", "d_model: 300000"));
  const ProgramResult result = run_heed({"validate", config});
  CHECK(result.exit_code == 2);
  CHECK_MESSAGE(result.err.starts_with(config + ":3:3: model: the run needs about "), result.err);
  CHECK(result.peak_bytes < most_bytes);
}
