// What heed generate --show looks like on a terminal. What it says, and the page:
// tests/transcripts/shown_tokens.txt and explain_check.py.
#include <doctest/doctest.h>

#include <cstdlib>
#include <regex>

#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("heed generate --show: colours where the terminal has them, never with NO_COLOR") {
  if (!has_terminals()) return;
  const TempDir folder;
  const std::string run = folder / "run";
  succeeded({"train", write_config(folder), "--out", run});
  const std::vector<std::string> words{"generate", run,  "--prompt", "Every",
                                       "--tokens", "40", "--show"};
  setenv("TERM", "xterm-256color", 1);
  const std::string colored = on_terminal(words, 80);
  CHECK(contains(colored, "\x1b[38;5;16;48;5;"));
  CHECK(contains(colored, "probability"));
  setenv("NO_COLOR", "1", 1);
  const std::string plain = on_terminal(words, 80);
  unsetenv("NO_COLOR");
  CHECK(!contains(plain, "\x1b"));
  // The same words but for the scale; a coloured blank stands for the end of a line.
  const std::string bare = std::regex_replace(
      std::regex_replace(colored, std::regex("\x1b\\[[0-9;]*m"), ""), std::regex(" \r\n"), "\r\n");
  CHECK(bare.starts_with(plain));
}
