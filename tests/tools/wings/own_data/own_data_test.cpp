// Every command on a run whose data is a user's file, as a user types them.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "autograd/base/error.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

std::string questions() {
  std::string lines = "topic,text\n";
  for (int i = 0; i < 30; ++i) {
    lines += i % 2 == 0 ? text("music,\"play it, ", i, " times\"\n")
                        : text("<b>rain,how wet is it ", i, "\n");
  }
  return lines;
}

// A config for the file q.csv next to it.
struct Questions {
  Questions() {
    write_text(folder / "q.csv", questions());
    write_text(config, R"(data: {type: labelled, path: q.csv, label: topic, train_fraction: 0.7}
model: {type: classifier, d_model: 8, num_heads: 2, num_layers: 1, dropout: 0.1}
train: {steps: 6, batch_size: 4}
eval: {every: 3}
)");
  }
  TempDir folder;
  const std::string config = (folder / "c.yaml").string();
};

}  // namespace

TEST_CASE("own data: a run is saved, resumed to the same bits, evaluated and reported") {
  const Questions files;
  const fs::path whole = files.folder / "whole", parts = files.folder / "parts";
  const ProgramResult trained = succeeded({"train", files.config, "--out", whole.string()});
  CHECK(contains(trained.err, "\ndata       q.csv: "));
  CHECK(contains(trained.err, "\nclasses    <b>rain "));
  CHECK(contains(trained.err, "\nexample    \"play it, 0 times\" -> \"music\"\n"));
  succeeded({"train", files.config, "--out", parts.string(), "--set", "train.steps=3"});

  // The file has moved, and the run goes on; with another one it does not.
  fs::rename(files.folder / "q.csv", files.folder / "moved.csv");
  const std::string moved = "data.path=" + (files.folder / "moved.csv").string();
  succeeded({"train", "--resume", parts.string(), "--set", "train.steps=6", "--set", moved});
  CHECK(weights_in(parts, "step-000006") == weights_in(whole, "step-000006"));
  write_text(files.folder / "moved.csv", questions() + "music,play\n");
  const ProgramResult other = run_heed({"eval", whole.string(), "--set", moved});
  CHECK(other.exit_code == 1);
  CHECK(contains(other.err, "changed: expected fingerprint"));
  write_text(files.folder / "moved.csv", questions() + "music,sing\n");
  const ProgramResult unknown = run_heed({"eval", whole.string(), "--set", moved});
  CHECK(unknown.exit_code == 2);
  CHECK(contains(unknown.err, "moved.csv:32: the word sing (word 1 of the text) is not in the "));
  write_text(files.folder / "moved.csv", questions());

  const auto evaluated =
      nlohmann::json::parse(succeeded({"eval", whole.string(), "--set", moved, "--json"}).out);
  CHECK(evaluated.at("by_class").at(0).at("class") == "<b>rain");
  CHECK(evaluated.at("confusion").size() == 2);
  CHECK(contains(succeeded({"eval", whole.string(), "--set", moved}).out, "precision"));
  // A test set of one class: the model's classes keep their numbers.
  const std::string held = (files.folder / "held.csv").string();
  write_text(held, "topic,text\nmusic,\"play it, 3 times\"\nmusic,\"play it, 5 times\"\n");
  const auto on_held =
      nlohmann::json::parse(succeeded({"eval", whole.string(), "--data", held, "--json"}).out);
  CHECK(on_held.at("data") == held);
  CHECK(on_held.at("tokens") == 2);
  CHECK(on_held.at("train_loss").is_null());
  CHECK(on_held.at("confusion").at(0) == std::vector<int>{0, 0});
  const auto& music = on_held.at("confusion").at(1);
  CHECK(music.at(0).get<int>() + music.at(1).get<int>() == 2);
  if (has_command("report")) {
    const auto record = nlohmann::json::parse(read_text(whole / "report.json"));
    CHECK(record.at("classes").at("names").at(1) == "music");
    CHECK(record.at("hardest").size() == evaluated.at("tokens"));
    CHECK(record.at("hardest").at(0).at("place").get<std::string>().starts_with("q.csv:"));
    CHECK(!contains(read_text(whole / "report.html"), "<b>rain"));
  }
  if (has_command("inspect")) {
    CHECK(contains(succeeded({"inspect", whole.string(), "--attention", "--set", moved}).out,
                   "<class>"));
  }
  CHECK(contains(
      succeeded({"generate", whole.string(), "--prompt", "how wet is it", "--set", moved}).out,
      "%"));
}

TEST_CASE("own data: one batch by heart, weights of another run, and words it never saw") {
  const Questions files;
  const fs::path first = files.folder / "first";
  succeeded({"train", files.config, "--out", first.string(), "--overfit-batch"});
  write_text(files.folder / "other.csv", "topic,text\nmusic,play it\nmusic,play it again\n");
  const std::vector<std::string> again{"train",
                                       files.config,
                                       "--dry-run",
                                       "--weights",
                                       first.string(),
                                       "--set",
                                       "data.path=" + (files.folder / "other.csv").string()};
  const ProgramResult unknown = run_heed(again);
  CHECK(unknown.exit_code == 2);
  CHECK(contains(unknown.err, "expected at least two classes, got music in all of 2 examples"));
  write_text(files.folder / "other.csv", "topic,text\nmusic,play it\n<b>rain,how odd\n");
  const ProgramResult words = run_heed(again);
  CHECK(words.exit_code == 2);
  CHECK(contains(words.err, "other.csv:3: the word odd (word 2 of the text) is not in the "));
}

TEST_CASE("own data: a broken file ends with exit code 2 and leaves nothing behind") {
  const Questions files;
  write_text(files.folder / "q.csv", "topic,text\nmusic,\"play\nrain,wet\n");
  const fs::path out = files.folder / "run";
  const ProgramResult result = run_heed({"train", files.config, "--out", out.string()});
  CHECK(result.exit_code == 2);
  CHECK(result.err == (files.folder / "q.csv").string() +
                          ":2: expected a quote that closes the one in column 7, got the end of "
                          "the file\n");
  CHECK(!fs::exists(out));
}
