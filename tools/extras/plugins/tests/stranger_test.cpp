// Names and texts from somebody else steer no terminal. Whether their code runs, and where their
// links lead: tests/transcripts/stranger.txt.
#include <algorithm>

#include "layers/text/display.h"
#include "tests/support/near.h"
#include "tests/support/training_run.h"
#include "train/files/human_readable.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

// True if a terminal would do more than show the text.
bool steers(const std::string& text) { return printable_lines(text) != text; }

const std::string title = "\x1B]0;pwned\a\x1B[31m",
                  c1 = "\xC2\x9B"
                       "31m",
                  turned = "\xE2\x80\xAE";

}  // namespace

TEST_CASE("stranger: no message, plan, log or table steers the terminal") {
  const TempDir folder;
  const std::string name = "t" + title + c1 + turned + ".txt", run = (folder / "run").string();
  const std::string config = write_config(folder);
  fs::rename(folder / "text.txt", folder / name);
  const std::string path =
      "data.path=\"" + folder.path().string() + R"(/t\e]0;pwned\a\e[31m\u009b31m\u202e.txt")";
  const auto shown = [&](const std::vector<std::string>& words, bool works) {
    const ProgramResult result = run_heed(words);
    CHECK_MESSAGE((result.exit_code == 0) == works, printable_lines(words.back() + result.err));
    CHECK_MESSAGE(!steers(result.out), printable_lines(result.out));
    CHECK_MESSAGE(!steers(result.err), printable_lines(result.err));
    return result.out + result.err;
  };
  const std::string visible = R"(t\x1b]0;pwned\x07\x1b[31m\u009b31m\u202e.txt)";
  CHECK(contains(shown({"validate", config, "--set", path}, true), visible));  // in the plan
  shown({"train", config, "--set", path, "--out", run}, true);
  CHECK(contains(read_text(folder / "run/log.txt"), visible));
  CHECK(!steers(read_text(folder / "run/log.txt")));

  const std::string page = (folder / (title + c1 + turned + ".html")).string();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"probe", run, "heads", "--html", page},
        {"explain", run, "--out", page},
        {"tour", "causal", "--html", page}}) {
    if (has_command(words[0])) shown(words, true);
  }

  for (const std::string& wrong : {title, c1, turned}) {
    shown({"validate", (folder / (wrong + ".yaml")).string()}, false);
    shown({"validate", config, "--set", "data.path=" + wrong}, false);
    shown({"validate", config, "--set", "plugins=[" + wrong + "]"}, false);
    shown({"--trust-plugins", "validate", config, "--set", "plugins=[" + wrong + "]"}, false);
    shown({"eval", (folder / wrong).string()}, false);
    shown({"train", "--resume", (folder / wrong).string()}, false);
    shown({"report", (folder / wrong).string()}, false);  // also where there is no such command
    shown({"--plugin", wrong, "validate", "quickstart"}, false);
    shown({wrong}, false);
    shown({"train", "--" + wrong}, false);
    shown({"train", config, wrong}, false);
  }
}

TEST_CASE("stranger: what a model writes reaches a file as it is, but steers no terminal") {
  if (!has_terminals()) return;
  const TempDir folder;
  const std::string config = write_config(folder), run = (folder / "run").string();
  std::string text;
  for (int i = 0; i < 400; ++i) text += "a\x1B[3\n";
  write_text(folder / "text.txt", text);
  REQUIRE(run_heed({"train", config, "--out", run}).exit_code == 0);
  const std::vector<std::string> words = {"generate", run, "--prompt", "a", "--tokens", "80"};
  const std::string piped = run_heed(words).out;
  REQUIRE(contains(piped, "\x1B"));
  const fs::path program = fs::path(HEED_BUILD_DIR) / (is_float64 ? "heed-f64" : "heed");
  std::string command = shell_word(program.string());
  for (const std::string& word : words) command += " " + shell_word(word);
  ProgramResult terminal = run_program("/usr/bin/script", {"-qec", command, "/dev/null"});
  std::erase(terminal.out, '\r');  // the terminal's own
  CHECK(terminal.out == printable_lines(piped));
}

TEST_CASE("stranger: nor does JSON on standard output") {
  if (!has_command("data")) return;  // the extra own_data
  const TempDir folder;
  const std::string config = (folder / "c.yaml").string(), run = (folder / "run").string();
  std::string rows;
  for (int i = 0; i < 40; ++i) {
    rows += text("it is ", i, i % 2 == 0 ? "\tgood\u009B31m\n" : "\tb\u202Ead\n");
  }
  write_text(folder / "rows.tsv", rows);
  write_text(config, R"(data: {type: labelled, path: rows.tsv, train_fraction: 0.7}
model: {type: classifier, d_model: 8, num_heads: 1, num_layers: 1}
train: {steps: 2, batch_size: 4}
)");
  REQUIRE(run_heed({"train", config, "--out", run}).exit_code == 0);
  const std::vector<std::vector<std::string>> commands = {
      {"eval", run}, {"data", config}, {"inspect", run, "--attention", "--prompt", "it is 3"}};
  for (std::vector<std::string> command : commands) {
    if (!has_command(command[0])) continue;
    command.emplace_back("--json");
    const ProgramResult result = run_heed(command);
    CHECK_MESSAGE(result.exit_code == 0, result.err);
    const bool named =
        contains(result.out, R"(good\u009b31m)") || contains(result.out, R"(b\u202ead)");
    CHECK_MESSAGE(named, printable_lines(result.out));
    CHECK_MESSAGE(!steers(result.out), printable_lines(result.out));
  }
}
