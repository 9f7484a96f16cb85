// Output that cannot be written, and descriptors that are closed, as a shell makes them.
#include <doctest/doctest.h>

#include "tests/support/compare_runs.h"
#include "tests/support/near.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

// Runs a line of bash, in which $heed is the program.
ProgramResult in_bash(const std::string& line) {
  const fs::path program = fs::path(HEED_BUILD_DIR) / (is_float64 ? "heed-f64" : "heed");
  return run_program("/bin/bash", {"-c", "heed='" + program.string() + "'\n" + line});
}

}  // namespace

TEST_CASE("heed: a command whose output cannot be written fails with a line") {
  const TempDir folder;
  const std::string config = write_config(folder), run = (folder / "run").string();
  REQUIRE(run_heed({"train", config, "--out", run}).exit_code == 0);
  for (const std::string& command :
       {std::string("schema"), std::string("layers"), std::string("layers --json"),
        std::string("info"), std::string("--help"), "validate " + config, "inspect " + config,
        "inspect --json " + config, "train --dry-run " + config, "eval " + run,
        "eval --json " + run, "generate --prompt E " + run, "report " + run}) {
    CAPTURE(command);
    if (!has_command(command.substr(0, command.find(' '))) && command != "--help") continue;
    const ProgramResult full = in_bash("\"$heed\" " + command + " >/dev/full");
    CHECK(full.exit_code == 1);
    CHECK(full.err == "heed: standard output: cannot write to it\n");
    CHECK(in_bash("\"$heed\" " + command + " >&-").exit_code == 1);
  }
  const std::string longest = has_command("schema") ? "schema" : "--help";
  const ProgramResult gone = in_bash("\"$heed\" " + longest + " | head -1; echo ${PIPESTATUS[0]}");
  CHECK(gone.err.empty());
}

TEST_CASE("heed train: output that cannot be written does not end a run") {
  const TempDir folder;
  const std::string config = write_config(folder), whole = (folder / "whole").string();
  REQUIRE(run_heed({"train", config, "--out", whole}).exit_code == 0);
  int runs = 0;
  for (const std::string& end :
       {std::string("2>/dev/full"), std::string("2>&1 | head -c 1 >/dev/null"),
        std::string("2> >(true)"), std::string("<&- >&- 2>&-"), std::string(">&- 2>&-"),
        std::string("2>&-")}) {
    CAPTURE(end);
    const std::string run = (folder / std::to_string(runs++)).string();
    const ProgramResult result =
        in_bash("set -o pipefail\n\"$heed\" train " + config + " --out " + run + " " + end);
    CHECK(result.exit_code == 0);
    CHECK(compare_checkpoints(whole, run, 12) == 5);
    CHECK(rows_of(whole) == rows_of(run));
    // No file of the run was given the number of a closed stream.
    CHECK(read_text(run + "/samples.txt").empty());
    CHECK(read_text(run + "/.lock").starts_with("process "));
    CHECK(!contains(read_text(run + "/.lock"), "step"));
    const std::string log = read_text(run + "/log.txt");
    CHECK(log.ends_with("done: " + run + "\n"));
    CHECK(log.find("run folder ") == log.rfind("run folder "));
  }
  CHECK(runs == 6);
}
