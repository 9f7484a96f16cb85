// No command prints a line that is wider than the terminal.
#include <doctest/doctest.h>

#include <regex>
#include <set>

#include "layers/text/display.h"
#include "tests/support/near.h"
#include "tests/support/training_run.h"
#include "tools/command.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Of these the lines are not heed's to break: what a model writes, JSON, and lines for a shell.
const std::set<std::string> exempt{"generate", "schema", "new", "complete"};
const std::regex for_a_shell("^(write  |look  |go on  |  heed |model = )");

// Command lines that print without fail. `run` was trained with `config`, into `folder`.
std::vector<std::vector<std::string>> command_lines(const TempDir& folder,
                                                    const std::string& config,
                                                    const std::string& run) {
  const std::string page = folder / "page.html", graph = folder / "graph";
  return {{"--help"},
          {"train", "--help"},
          {"train", config, "--out", folder / "other"},
          {"train", config, "--dry-run"},
          {"eval", run},
          {"chat", "--help"},
          {"chat", run},
          {"validate", config},
          {"gradcheck", "gpt"},
          {"info"},
          {"inspect", run},
          {"inspect", run, "--attention", "--all"},
          {"inspect", run, "--graph", graph},
          {"layers"},
          {"layers", "gpt"},
          {"layers", "multi_head_attention"},
          {"layers", "optimizer"},
          {"layers", "eval"},
          {"bench", config, "--steps", "1", "--profile"},
          {"tokenizer", "train", folder / "text.txt", "--vocab", "270", "--out", folder / "t.json"},
          {"tokenizer", "show", sample_text().substr(0, 200), "--tokenizer", folder / "t.json"},
          {"tour"},
          {"tour", "--list"},
          {"tour", "--html", page},
          {"explain", run, "--prompt", "Every", "--out", page},
          {"report", run, "--out", page},
          {"probe", "--help"},
          {"probe", run, "heads"},
          {"probe", run, "lens", "--prompt", "Every"},
          {"probe", run, "ablate"},
          {"probe", run, "write", "--prompt", "Every", "--answer", "e", "--wrong", "a"},
          {"probe", run, "patch", "--clean", "Every", "--corrupt", "Evely", "--answer", "e"},
          {"data", config},
          {"configs"},
          {"configs", "--help"},
          {"export", run, folder / "exported"},
          {"import", folder / "exported", "--out", folder / "imported"},
          {"pack", run, "--out", folder / "run.tar"}};
}

// Without colours. Of a line that is written several times, the last time.
std::vector<std::string> lines_on_terminal(const std::string& shown) {
  return lines_of(std::regex_replace(
      std::regex_replace(shown, std::regex("\x1b\\[[0-9;]*[mK]"), ""), std::regex("\r\n"), "\n"));
}

}  // namespace

TEST_CASE("terminal: no command prints a line wider than 80 or 120 columns") {
  if (!has_terminals()) return;
  for (const unsigned short columns : {uint16_t{80}, uint16_t{120}}) {
    const TempDir folder;
    const std::string config = write_config(folder), run = folder / "run";
    succeeded({"train", config, "--out", run, "--set", "model.num_layers=3"});
    std::set<std::string> tried = exempt;
    for (const std::vector<std::string>& words : command_lines(folder, config, run)) {
      const bool is_option = words[0].starts_with("-");
      if (!is_option && !has_command(words[0])) continue;
      tried.insert(words[0]);
      if (words[0] == "gradcheck" && !has_float64()) continue;
      for (const std::string& line : lines_on_terminal(on_terminal(words, columns))) {
        const std::string last = line.substr(line.rfind('\r') + 1);
        if (std::regex_search(last, for_a_shell)) continue;
        CHECK_MESSAGE(display_width(last) <= columns, spaced(words), ": ", line);
      }
    }
    for (const cli::Command& command : cli::all_commands()) {
      CHECK_MESSAGE((command.name == "forward" || tried.contains(command.name)), command.name,
                    ": add a command line to this test");
    }
  }
}
