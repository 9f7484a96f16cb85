// The mistakes of a config on a terminal: in lines that fit, with their places. Elsewhere each is
// one line.
#include <doctest/doctest.h>

#include <sstream>

#include "layers/text/display.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;

namespace {

// What `heed validate` says about the config on a terminal of so many columns.
std::string said(const std::string& config, int columns, const std::string& color) {
  const std::string heed = HEED_BUILD_DIR + std::string(is_float64 ? "/heed-f64" : "/heed");
  const std::string command = text("stty cols ", columns, "; \"$HEED\" validate ", config);
  const ProgramResult result =
      run_program("/bin/sh", {"-c", "script -qefc '" + command + "' /dev/null"},
                  {"TERM=xterm", color, "HEED=" + heed});
  CHECK(result.exit_code == 2);
  std::string out = result.out;
  std::erase(out, '\r');
  return out;
}

}  // namespace

TEST_CASE("mistakes: a terminal shows the line of each, with a caret below its place") {
  if (!has_terminals()) return;
  const TempDir folder;
  const std::string config = write_config(
      folder,
      "data: {type: text, path: text.txt}\n"
      "model: {type: gpt, context_length: 8, d_model: 12, num_heads: 3, num_layers: 1}\n"
      "train: {batch_size: 4, steps: 12.0, log_evry: 4}  # M\u00e4rz \u4e2d\n");
  const std::string plain = run_heed({"validate", config}).err;
  CHECK(plain == config +
                     ":3:31: train.steps: expected a whole number of at least 1, got 12.0; "
                     "write 12\n" +
                     config + ":3:37: train.log_evry: unknown key, did you mean log_every?\n");
  for (const int columns : {50, 300}) {
    const std::string shown = said(config, columns, "NO_COLOR=1");
    std::istringstream words_of_shown(shown), words_of_plain(plain);
    for (const std::string& line : lines_of(shown)) {
      if (line.find(config) == line.npos) CHECK(display_width(line) <= columns);
    }
    // Broken between words only.
    for (std::string word; words_of_plain >> word;) {
      std::string other;
      while (other != word && words_of_shown >> other) {
      }
      CHECK(other == word);
    }
    CHECK(!contains(shown, "\x1b"));
  }
  CHECK(contains(said(config, 300, "NO_COLOR=1"),
                 "write 12\n"
                 " 3 | train: {batch_size: 4, steps: 12.0, log_evry: 4}  # März 中\n"
                 "   |                               ^\n"
                 "error: " +
                     config + ":3:37: "));
  CHECK(said(config, 300, "NO_COLOR=").starts_with("\x1b[1merror: " + config));
  // In a narrow terminal the place stays on the screen.
  CHECK(contains(said(config, 24, "NO_COLOR=1"), " 3 | : 4, steps: 12.0...\n   |             ^\n"));
}
