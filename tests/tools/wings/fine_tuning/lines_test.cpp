// Documents from a file, and what `heed generate` writes: the commands of the README.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "autograd/base/error.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

using namespace heed;
using namespace heed::testing;

namespace {

struct NamesRun {
  NamesRun() {
    std::string names;
    for (int i = 0; i < 60; ++i) {
      names += text(static_cast<char>('A' + i % 5), i % 2 == 0 ? "nna" : "elo", "\n");
    }
    write_text(folder / "n.txt", names);
    write_text(config,
               "data: {type: lines, path: n.txt}\n"
               "model: {type: gpt, d_model: 16, num_heads: 2, num_layers: 1}\n"
               "optimizer: {type: adamw, lr: 1e-2}\n"
               "train: {steps: 60, batch_size: 10}\n"
               "sample: {every: 60, prompt: \"\", tokens: 20}\n");
  }
  std::string train(const std::string& name, const std::string& threads) const {
    const std::string out = (folder / name).string();
    succeeded({"train", config, "--out", out, "--threads", threads});
    return out;
  }

  TempDir folder;
  const std::string config = (folder / "c.yaml").string();
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    lines.push_back(text.substr(at, end - at));
  }
  return lines;
}

}  // namespace

TEST_CASE("lines: names are learned, samples end by themselves, and threads do not matter") {
  const NamesRun files;
  const std::string run = files.train("one", "1"), two = files.train("two", "2");
  CHECK(weights_in(run, "step-000060") == weights_in(two, "step-000060"));
  CHECK(read_text(files.folder / "one/samples.txt").size() < 40);  // a name, not 20 letters

  const std::vector<std::string> generate{"generate",  run, "--prompt", "",
                                          "--samples", "8", "--seed",   "5"};
  const std::string out = succeeded(generate).out;
  const std::vector<std::string> names = lines_of(out);
  REQUIRE(names.size() == 8);
  for (const std::string& name : names) {
    CHECK_MESSAGE((name.ends_with("nna") || name.ends_with("elo")), name);
  }
  CHECK(succeeded(generate).out == out);
  // Each sample has a seed of its own, and can be had alone.
  CHECK(succeeded({"generate", run, "--prompt", "", "--seed", "8"}).out == names[3] + "\n");
  CHECK(contains(succeeded({"eval", run}).out, "accuracy"));
  if (has_command("inspect")) {
    CHECK(contains(succeeded({"inspect", run, "--attention", "--prompt", "Anna", "--json"}).out,
                   "<start>"));
  }
}

TEST_CASE("lines: a special token of a tokenizer file as the mark") {
  if (!has_command("tokenizer") || !has_command("data")) {
    return;
  }
  const NamesRun files;
  const std::string tokenizer = (files.folder / "tok.json").string();
  succeeded({"tokenizer", "train", (files.folder / "n.txt").string(), "--vocab", "260", "--special",
             "<|endoftext|>", "--out", tokenizer});
  const auto json =
      nlohmann::json::parse(succeeded({"data", files.config, "--json", "--examples", "1", "--set",
                                       "data.tokenizer={type: bpe, path: \"" + tokenizer + "\"}",
                                       "--set", "data.mark=\"<|endoftext|>\""})
                                .out);
  CHECK(json["vocab_size"] == 260);
  const auto& example = json["examples"][0];
  CHECK(std::string(example["given"]).starts_with("<|endoftext|> "));
  CHECK(example["ids"][0] == example["targets"].back());
}

TEST_CASE("heed generate: stop strings, and the tokens in JSON") {
  const NamesRun files;
  const std::string run = files.train("run", "1");
  const auto generated = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"generate", run, "--prompt", "Ann", "--temperature", "0"});
    return succeeded(more).out;
  };
  CHECK(generated({}) == "Anna\n");
  CHECK(generated({"--stop", "a"}) == "Ann\n");
  CHECK(generated({"--stop", "xyz", "--stop", "a"}) == "Ann\n");
  CHECK(generated({"--stop", "Ann"}) == "Anna\n");  // the prompt is not searched

  const std::vector<std::string> cut =
      lines_of(succeeded({"generate", run, "--prompt", "A", "--samples", "6", "--stop", "nn"}).out);
  CHECK(std::count(cut.begin(), cut.end(), "A") > 0);  // over two tokens
  CHECK(std::count(cut.begin(), cut.end(), "A") + std::count(cut.begin(), cut.end(), "Aelo") == 6);

  const auto json = nlohmann::json::parse(generated({"--json", "--samples", "2"}));
  CHECK(json["prompt"] == "Ann");
  REQUIRE(json["samples"].size() == 2);
  CHECK(json["samples"][1]["seed"] == 124);
  CHECK(json["samples"][0]["text"] == "Anna");
  const auto& tokens = json["samples"][0]["tokens"];
  REQUIRE(tokens.size() == 2);
  CHECK(tokens[0]["token"] == "a");
  CHECK(tokens[1]["token"] == "<end>");
  CHECK(tokens[0]["drawn_with"] == 1);
  const auto& likeliest = tokens[0]["likeliest"];
  REQUIRE(likeliest.size() == 5);
  CHECK(likeliest[0]["id"] == tokens[0]["id"]);
  double sum = 0, before = 1;
  for (const auto& each : likeliest) {
    CHECK(each["probability"] <= before);
    before = each["probability"];
    sum += before;
  }
  CHECK(sum > 0.9);
  CHECK(sum <= 1 + 1e-9);

  const auto ids = nlohmann::json::parse(
      succeeded({"generate", run, "--ids", "0,1", "--tokens", "2", "--json", "--min-p", "0.5"})
          .out);
  CHECK(ids["ids"] == "0,1");
  CHECK(ids["samples"][0]["tokens"].size() == 2);
  CHECK(std::string(ids["samples"][0]["text"]).starts_with("0,1,"));
}
