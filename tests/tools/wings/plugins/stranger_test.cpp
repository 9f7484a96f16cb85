// A config or a run folder from somebody else: none of its code runs, and nothing outside of the
// folder changes.
#include <algorithm>

#include "layers/text/display.h"
#include "tests/support/near.h"
#include "tests/support/training_run.h"
#include "train/files/number_words.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

const fs::path built = fs::path(HEED_BUILD_DIR) / "tests";
const std::string to_allow = "would run the code of a library; to allow it: heed --plugin ";

int64_t lines_of(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

// A folder with a trained run and its config; then both name a library that leaves a trace.
struct Stranger {
  Stranger() {
    config = write_config(folder);
    run = (folder / "run").string();
    REQUIRE(run_heed({"train", config, "--out", run}).exit_code == 0);
    for (const char* name : {"libtrace_plugin.so", "libtrace_plugin-f64.so"}) {
      fs::copy_file(built / name, folder / name);
    }
    library = (folder / "libtrace_plugin.so").string();
    const std::string named = text("plugins: [", library, "]\n");
    for (const fs::path& file : {fs::path(config), fs::path(run) / "config.yaml"}) {
      write_text(file, named + read_text(file));
    }
  }

  ProgramResult heed(const std::vector<std::string>& words,
                     const std::vector<std::string>& environment = {}) {
    std::vector<std::string> variables = environment;
    variables.push_back("HEED_TEST_TRACE=" + trace().string());
    return run_heed(words, variables);
  }
  fs::path trace() const { return folder / "trace"; }

  TempDir folder;
  std::string config, run, library;
};

}  // namespace

TEST_CASE("stranger: no command loads a library that only a config or a run names") {
  Stranger their;
  const std::string x = (their.folder / "x.safetensors").string();
  const std::vector<std::vector<std::string>> commands = {
      {"validate", their.config},
      {"train", their.config, "--out", (their.folder / "new").string()},
      {"train", their.config, "--dry-run"},
      {"inspect", their.config},
      {"inspect", their.config, "--attention"},
      {"bench", their.config, "--steps", "1"},
      {"forward", their.config, "--in", x, "--out", x + ".out"},
      {"gradcheck", their.config},
      {"train", "--resume", their.run, "--set", "train.steps=13"},
      {"eval", their.run},
      {"generate", their.run, "--prompt", "E"},
      {"inspect", their.run, "--attention"},
      {"eval", their.run + "/checkpoints/step-000012"},
  };
  for (const std::vector<std::string>& command : commands) {
    if (!has_command(command[0])) continue;
    const ProgramResult refused = their.heed(command);
    const bool of_config = command[1] == their.config;
    const std::string where = of_config ? their.config : their.run + "/config.yaml";
    CHECK_MESSAGE(refused.exit_code == 2, command[0], ": ", refused.err);
    CHECK_MESSAGE(contains(refused.err, where + ":1:11: plugins.0: " + to_allow), refused.err);
    CHECK(contains(refused.err, " COMMAND ..., or any: heed --trust-plugins COMMAND ...\n"));
    CHECK_MESSAGE(lines_of(refused.err) == 1, refused.err);
    CHECK(refused.out.empty());
    CHECK(!fs::exists(their.trace()));
  }
  CHECK(!fs::exists(their.folder / "new"));
  CHECK((!has_command("report") ||
         their.heed({"report", their.run}).exit_code == 0));  // needs no library
  CHECK(!fs::exists(their.trace()));
}

TEST_CASE("stranger: --trust-plugins, its variable, or --plugin for the one allow a library") {
  Stranger their;
  const auto loads = [&](const std::vector<std::string>& words,
                         const std::vector<std::string>& environment = {}) {
    fs::remove(their.trace());
    const ProgramResult result = their.heed(words, environment);
    const bool loaded = fs::exists(their.trace());
    CHECK_MESSAGE(result.exit_code == (loaded ? 0 : 2), result.err);
    return loaded;
  };
  CHECK(loads({"--trust-plugins", "validate", their.config}));
  CHECK(loads({"--trust-plugins", "eval", their.run}));
  CHECK(loads({"validate", their.config}, {"HEED_TRUST_PLUGINS=1"}));
  CHECK(loads({"--plugin", their.library, "validate", their.config}));
  CHECK(loads({"--plugin", their.library, "eval", their.run}));
  CHECK_FALSE(loads({"validate", their.config}, {"HEED_TRUST_PLUGINS=0"}));
  CHECK_FALSE(loads({"validate", their.config}, {"HEED_TRUST_PLUGINS="}));
  const std::string another = (built / "libtest_plugin.so").string();
  CHECK_FALSE(loads({"--plugin", another, "validate", their.config}));
}

TEST_CASE("stranger: the rest of a config is checked, but not for types of the library") {
  const TempDir folder;
  const std::string file = (folder / "c.yaml").string();
  write_text(file, R"(plugins: [no.so, other.so]
seeed: 3
data: {type: their_task, length: 7}
model:
  type: gpt
  d_modle: 8
  num_heads: 2
  num_layers: 1
  attention: {type: their_layer, window: 3}
optimizer: {type: their_optimizer, lr: 0.3}
schedule: {type: their_schedule}
train: {steps: 0, batch_size: 3}
)");
  const ProgramResult checked = run_heed({"validate", file});
  CHECK(checked.exit_code == 2);
  for (const char* mistake :
       {":1:11: plugins.0: would run", ":1:18: plugins.1: would run", "seeed: unknown key",
        "model.d_modle: unknown key, did you mean d_model?", "train.steps: expected a whole"}) {
    CHECK_MESSAGE(contains(checked.err, mistake), mistake, " in ", checked.err);
  }
  CHECK_MESSAGE(!contains(checked.err, "their_"), checked.err);
  CHECK_MESSAGE(!contains(checked.err, "window"), checked.err);
}

TEST_CASE("stranger: links in a run folder change nothing outside") {
  const TempDir folder;
  const std::string run = (folder / "run").string();
  REQUIRE(run_heed({"train",
                    write_config(folder, text(small_config, "sample: {every: 2, tokens: 2}\n",
                                              "checkpoint: {every: 4}\n")),
                    "--out", run})
              .exit_code == 0);
  write_text(folder / "mine", "mine");
  const auto resume = [&] {
    return run_heed({"train", "--resume", run, "--set", "train.steps=14"});
  };
  for (const char* name : {"samples.txt", ".lock", "log.txt", "report.html", "report.json",
                           "metrics.csv", "config.yaml"}) {
    const fs::path file = fs::path(run) / name;
    if (!fs::exists(file)) continue;  // the report is another wing's
    fs::rename(file, folder / "aside");
    // A config must still be one to be read.
    const bool is_config = name == std::string("config.yaml");
    const std::string before = is_config ? read_text(folder / "aside") : "mine";
    write_text(folder / "mine", before);
    fs::create_symlink(folder / "mine", file);
    const ProgramResult resumed = resume();
    CHECK(resumed.exit_code == 1);
    CHECK_MESSAGE(contains(resumed.err, file.string() + ": is a symbolic link"), resumed.err);
    if (name == std::string("report.html")) {
      CHECK(run_heed({"report", run}).exit_code == 1);
      CHECK(run_heed({"report", run + "/checkpoints/step-000012"}).exit_code == 1);
    }
    CHECK_MESSAGE(read_text(folder / "mine") == before, name);
    CHECK(fs::is_symlink(file));
    fs::remove(file);
    fs::rename(folder / "aside", file);
  }
  if (has_command("report")) {  // what the user names himself may be a link
    fs::create_symlink(folder / "mine", folder / "page.html");
    CHECK(run_heed({"report", run, "--out", (folder / "page.html").string()}).exit_code == 0);
    CHECK(fs::is_symlink(folder / "page.html"));
    CHECK(read_text(folder / "mine").starts_with("<!"));
  }
  fs::create_directory_symlink(run, folder / "link");
  const ProgramResult by_link =
      run_heed({"train", "--resume", (folder / "link").string(), "--set", "train.steps=14"});
  CHECK_MESSAGE(by_link.exit_code == 0, by_link.err);
}

TEST_CASE("stranger: a checkpoint that was moved away behind a link is kept whole") {
  const TempDir folder;
  const std::string run = (folder / "run").string();
  REQUIRE(run_heed({"train", write_config(folder), "--out", run, "--set", "checkpoint.every=4"})
              .exit_code == 0);
  const fs::path link = fs::path(run) / "checkpoints/step-000004", moved = folder / "step-000004";
  fs::rename(link, moved);
  fs::create_directory_symlink(moved, link);
  const ProgramResult resumed = run_heed({"train", "--resume", run, "--set", "train.steps=24"});
  CHECK_MESSAGE(resumed.exit_code == 0, resumed.err);
  CHECK(!fs::exists(fs::symlink_status(link)));
  CHECK(fs::exists(moved / "manifest.json"));
  CHECK(fs::exists(moved / "model.safetensors"));
}

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
  if (!has_command("data")) return;  // the wing own_data
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
