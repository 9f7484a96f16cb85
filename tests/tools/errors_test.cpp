// Messages for wrong configs, files and arguments: exact words and exit code, the same from `train`
// and `validate`, and nothing is created or changed.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "tests/support/near.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

// The names and contents of all files in a folder; of .lock the name, since it holds the process
// that had the run last.
std::string snapshot(const fs::path& folder) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const bool readable = entry.is_regular_file() && entry.path().filename() != ".lock" &&
                          access(entry.path().c_str(), R_OK) == 0;
    files.push_back(entry.path().string() + "\n" + (readable ? read_text(entry.path()) : ""));
  }
  std::sort(files.begin(), files.end());
  std::string all;
  for (const std::string& file : files) all += file;
  return all;
}

// A message without the folder's name.
std::string without(const TempDir& folder, std::string message) {
  const std::string path = folder.path().string() + "/";
  for (size_t at; (at = message.find(path)) != std::string::npos;) message.erase(at, path.size());
  return message;
}

struct Wrong {
  std::vector<std::string> sets;
  int exit_code;
  std::string message;
};

// One of each kind. The others are in tests/messages.
const std::vector<Wrong> wrong_values = {
    {{"model.d_modle=3"},
     2,
     "--set model.d_modle=3:1:7: model.d_modle: unknown key, did you mean d_model?\n"},
    {{"data.path=folder"},
     1,
     "--set data.path=folder:1:11: data.path: folder: cannot read: expected a file, got a "
     "folder\n"},
    {{"data.path=no.txt", "train.stepps=4"},
     2,
     "--set train.stepps=4:1:7: train.stepps: unknown key, did you mean steps?\n"
     "--set data.path=no.txt:1:11: data.path: no.txt: cannot open: No such file or directory\n"},
};

// `heed train` into DIR/out and `heed validate` report the same, and leave the folder unchanged.
void check_refused(const TempDir& folder, const std::string& config,
                   const std::vector<std::string>& more, int exit_code,
                   const std::string& message) {
  const std::string before = snapshot(folder.path());
  std::vector<std::string> validate = {"validate", config};
  std::vector<std::string> train = {"train", config, "--out", (folder / "out").string()};
  validate.insert(validate.end(), more.begin(), more.end());
  train.insert(train.end(), more.begin(), more.end());
  for (const std::vector<std::string>& words : {validate, train}) {
    const ProgramResult result = run_heed(words);
    CHECK(without(folder, result.err) == message);
    CHECK(result.exit_code == exit_code);
    CHECK(result.out.empty());
  }
  CHECK(snapshot(folder.path()) == before);
}

}  // namespace

TEST_CASE("errors: wrong values and data") {
  const TempDir folder;
  const std::string config = write_config(folder);
  fs::create_directory(folder / "folder");
  for (const Wrong& wrong : wrong_values) {
    std::vector<std::string> words;
    for (const std::string& set : sets_in(folder, wrong.sets)) {
      words.insert(words.end(), {"--set", set});
    }
    check_refused(folder, config, words, wrong.exit_code, wrong.message);
  }
}

TEST_CASE("errors: wrong files") {
  const TempDir folder;
  write_config(folder);
  const std::string elsewhere = (folder / "none.yaml").string();
  std::string config_of_none = small_config;
  config_of_none.replace(config_of_none.find("text.txt"), 8, "data/none.txt");
  write_text(elsewhere, config_of_none);
  check_refused(folder, elsewhere, {}, 1,
                "none.yaml:2:26: data.path: data/none.txt: cannot open: No such file or directory; "
                "paths in a config are relative to its folder\n");
  check_refused(folder, (folder / "no.yaml").string(), {}, 1,
                "heed: cannot read the config no.yaml: there is no such file\n");
  fs::create_directory(folder / "folder");
  check_refused(folder, (folder / "folder").string(), {}, 1,
                "heed: cannot read the config folder: it is a folder, expected a YAML file\n");
  // Root can read every file.
  if (geteuid() != 0) {
    const std::string config = write_config(folder);
    REQUIRE(chmod((folder / "text.txt").c_str(), 0) == 0);
    check_refused(folder, config, {}, 1,
                  "c.yaml:2:26: data.path: text.txt: cannot open: Permission denied\n");
    REQUIRE(chmod(config.c_str(), 0) == 0);
    check_refused(folder, config, {}, 1,
                  "heed: cannot read the config c.yaml: permission denied?\n");
  }
}

TEST_CASE("errors: run folders") {
  const TempDir folder;
  const std::string config = write_config(folder), run = (folder / "run").string();
  REQUIRE(run_heed({"train", config, "--out", run, "--threads", "1"}).exit_code == 0);
  fs::create_directory(folder / "full");
  write_text(folder / "full/mine.txt", "mine");
  struct Case {
    std::vector<std::string> words;
    int exit_code;
    std::string message;
  };
  const std::string full = (folder / "full").string(), none = (folder / "none").string();
  const std::string no_name = "expected the name of a file or folder, got nothing; see heed ";
  const std::string before = snapshot(folder.path());
  for (const Case& c : std::vector<Case>{
           {{"train", config, "--out", run},
            2,
            "--out run: exists and is not empty; give another folder, or go on with that run: "
            "--resume run\n"},
           {{"train", config, "--out", full},
            2,
            "--out full: exists and is not empty; give another folder\n"},
           {{"train", config, "--out", config}, 2, "--out c.yaml: exists and is not a folder\n"},
           {{"train", config, "--out", "/proc/no/run"},
            1,
            "heed: /proc/no: cannot make the folder: No such file or directory\n"},
           {{"train", "--resume", none},
            1,
            "heed: none: expected a run folder, or checkpoints/step-* in one: No such file or "
            "directory\n"},
           {{"eval", ""}, 2, "heed eval: RUN: " + no_name + "eval --help\n"},
           {{"eval", full},
            1,
            "heed: full: no checkpoint yet: expected a folder checkpoints/step-*\n"},
           {{"train", config, "--resume", run, "--out", none},
            2,
            "heed train: a resumed run stays in its folder; give --resume or --out\n"},
           {{"train", config, "--out", ""}, 2, "heed train: --out: " + no_name + "train --help\n"},
           {{"train"}, 2, "heed train: expected a CONFIG, or --resume with a run folder\n"},
           {{"train", config, "--threads", "0"},
            2,
            "heed train: --threads: expected a whole number from 1 to 1024, got 0; see heed train "
            "--help\n"},
           {{"train", config, "--max-seconds", "0"},
            2,
            "heed train: expected --max-seconds above 0, got 0\n"},
           {{"generate", run, "--prompt", "Zoo"},
            2,
            "heed generate: --prompt: the character Z (character 1 of the text) is not in the "
            "vocabulary: the model knows 21 characters: \\n ␣ . A E a d e f i l m n o r s t u v w "
            "y\n"},
           {{"generate", run, "--prompt", ""},
            2,
            "heed generate: --prompt: expected at least one token, got none\n"},
           {{"generate", run, "--tokens", "0"},
            2,
            "heed generate: expected --tokens of at least 1, got 0\n"},
           {{"generate", run, "--temperature", "-1"},
            2,
            "heed generate: expected --temperature of at least 0, got -1\n"},
           {{"generate", run, "--seed", "-1"},
            2,
            "heed generate: expected --seed of at least 0, got -1\n"}}) {
    const ProgramResult result = run_heed(c.words);
    CHECK(without(folder, result.err) == c.message);
    CHECK(result.exit_code == c.exit_code);
    CHECK(result.out.empty());
  }
  CHECK(snapshot(folder.path()) == before);
}

TEST_CASE("errors: generate without --prompt, where the config's prompt cannot be read") {
  const TempDir folder;
  const std::string config = write_config(folder), run = (folder / "run").string();
  std::string text = sample_text();
  std::replace(text.begin(), text.end(), '\n', ' ');
  write_text(folder / "text.txt", text);
  REQUIRE(run_heed({"train", config, "--out", run, "--threads", "1"}).exit_code == 0);
  const ProgramResult result = run_heed({"generate", run});  // standard input is empty
  CHECK(result.exit_code == 2);
  CHECK(result.out.empty());
  CHECK(result.err.starts_with(
      "heed generate: give --prompt; the config's sample.prompt: the character \\n "));
}

TEST_CASE("errors: damaged checkpoints") {
  const TempDir folder;
  const std::string config = write_config(folder), run = (folder / "run").string();
  REQUIRE(run_heed({"train", config, "--out", run, "--set", "checkpoint.every=6"}).exit_code == 0);
  const auto damage = [&](const char* step) {
    fs::resize_file(folder / "run/checkpoints" / step / "model.safetensors", 100);
  };
  const std::string size =
      std::to_string(fs::file_size(folder / "run/checkpoints/step-000012/model.safetensors"));
  damage("step-000012");
  const ProgramResult older = run_heed({"eval", run, "--json"});
  CHECK(older.exit_code == 0);
  CHECK(older.out.starts_with("{\"step\":6,"));
  CHECK(without(folder, older.err) ==
        "run/checkpoints/step-000012/model.safetensors: damaged: expected " + size +
            " bytes, got 100; using step-000006\n");
  damage("step-000006");
  const std::string before = snapshot(folder.path());
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"eval", run}, {"train", "--resume", run}, {"generate", run}}) {
    const ProgramResult result = run_heed(words);
    CHECK(result.exit_code == 1);
    CHECK(without(folder, result.err) ==
          "heed: run/checkpoints/step-000012/model.safetensors: damaged: expected " + size +
              " bytes, got 100; run has no checkpoint that is whole\n");
  }
  CHECK(snapshot(folder.path()) == before);
}
