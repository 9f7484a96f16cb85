// The closing lines of `heed train`, as text and on a terminal.
#include "tools/commands/train_ending.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>

#include "tests/support/source_tree.h"
#include "tests/support/training_run.h"
#include "train/files/human_readable.h"

using namespace heed;
using namespace heed::cli;
using namespace heed::testing;

namespace {

namespace fs = std::filesystem;

// Runs `heed train` with standard error on a terminal; returns what the terminal shows, with 0:00
// for the time that it took.
std::string on_terminal(const std::vector<std::string>& words,
                        const std::string& color = "NO_COLOR=1") {
  std::string command =
      shell_word((fs::path(HEED_BUILD_DIR) / (is_float64 ? "heed-f64" : "heed")).string());
  for (const std::string& word : words) command += " " + shell_word(word);
  const ProgramResult shown =
      run_program("/bin/sh", {"-c", "script -qefc " + shell_word(command) + " /dev/null"},
                  {"TERM=xterm", color});
  REQUIRE_MESSAGE(shown.exit_code == 0, shown.out, shown.err);
  std::string out = shown.out;
  std::erase(out, '\r');
  const std::string timeless =
      std::regex_replace(out, std::regex("steps in [0-9:]+"), "steps in 0:00");
  return std::regex_replace(timeless, std::regex("[a-z2-9]{4}-[a-z2-9]{4}\\)"), "abcd-efgh)");
}

}  // namespace

TEST_CASE("next steps: three lines for a language model, quoted for a shell") {
  const std::string run = "runs/my run";
  CHECK(next_steps({.run = run,
                    .generates = true,
                    .prompt = "It's",
                    .looks = {"page.html in a browser", "heed show"},
                    .set = {"train.steps=40"}}) ==
        std::vector<std::string>{
            "write      heed generate '" + run + "' --prompt 'It'\\''s'",
            "look       page.html in a browser, or heed show",
            "go on      heed train --resume '" + run + "' --set train.steps=40"});
}

TEST_CASE("next steps: every command has the options that the run needs") {
  const std::string run = "runs/a", program = "heed --plugin libmine.so";
  CHECK(next_steps({.run = run, .program = program, .generates = true}) ==
        std::vector<std::string>{"write      " + program + " generate " + run,
                                 "go on      " + program + " train --resume " + run});
}

TEST_CASE("next steps: only what applies") {
  const std::string run = "runs/a";
  CHECK(next_steps({.run = run}) ==
        std::vector<std::string>{"go on      heed train --resume " + run});
  CHECK(next_steps({.run = run, .looks = {"heed show"}}).front() == "look       heed show");
  for (const std::string& prompt : {std::string("a\nb"), std::string(41, 'x'), std::string()}) {
    CHECK(next_steps({.run = run, .generates = true, .prompt = prompt}).front() ==
          "write      heed generate " + run);
  }
}

TEST_CASE("heed train: on a terminal the last lines say what to do next") {
  if (!has_terminals()) return;
  const TempDir folder;
  const std::string config = write_config(folder), run = (folder / "my run").string();
  const std::string shown = on_terminal({"train", config, "--out", run});
  const bool page = has_command("report"), maps = has_command("inspect");
  const std::string look =
      text(page || maps ? "look       " : "", page ? "'" + run + "/report.html' in a browser" : "",
           page && maps ? ", or " : "", maps ? "heed inspect '" + run + "' --attention" : "",
           page || maps ? "\n" : "");
  CHECK_MESSAGE(
      shown.ends_with("done: " + run +
                      " (12 steps in 0:00, weights abcd-efgh)\nwrite      heed generate '" + run +
                      "'\n" + look + "go on      heed train --resume '" + run +
                      "' --set train.steps=24\n"),
      shown);
  CHECK(!contains(read_text(folder / "my run/log.txt"), "go on"));

  const std::string timed =
      on_terminal({"train", config, "--out", (folder / "timed").string(), "--max-seconds", "0.05",
                   "--set", "train.steps=1000000", "--threads", "1"});
  CHECK_MESSAGE(contains(timed, " steps in 0:00, weights abcd-efgh)\nwrite      "), timed);
  CHECK(contains(timed, ", saved ("));
  CHECK_MESSAGE(
      timed.ends_with("go on      heed train --resume " + (folder / "timed").string() + "\n"),
      timed);
}

TEST_CASE("heed train: on a terminal few lines, a bar of losses, and a verdict in bold") {
  if (!has_terminals()) return;
  const TempDir folder;
  const std::string config = write_config(folder), run = (folder / "run").string();
  const std::string shown =
      on_terminal({"train", config, "--out", run, "--set", "eval.every=6"}, "NO_COLOR=");
  const std::string log = read_text(folder / "run/log.txt");
  for (const char* detail :
       {"\nstep       32 tokens", "\nmemory     about", "\nthreads ", "\nmemory     peak"}) {
    CHECK_MESSAGE(contains(log, detail), detail);
    CHECK_MESSAGE(!contains(shown, detail), detail);
  }
  CHECK(contains(shown, "\nrun        12 steps, adamw, constant schedule\n"));
  // The line that is rewritten has the bar where a validation loss stands in those that stay.
  CHECK(contains(shown, "\nstep  1/12  loss 3.16"));
  CHECK(contains(shown, "  █░░░░░░░░░  lr 1.0e-02  "));
  CHECK(contains(shown, "\x1b[Kstep  4/12  loss "));
  CHECK(contains(shown, "\x1b[Kstep  6/12  loss "));
  CHECK(std::regex_search(shown, std::regex("  val [0-9.]{6}  lr 1.0e-02  .*\nstep  8/12  loss ")));
  CHECK(std::regex_search(shown, std::regex("\n\x1b\\[1mdone: .* \\(12 steps in 0:00, val "
                                            "[0-9.]{6}, weights abcd-efgh\\)\x1b\\[0m\nwrite ")));
  CHECK(log.ends_with(")\n"));
}

TEST_CASE("heed train: a model that answers is not offered to write") {
  if (!has_terminals() || !layout::has_extra("toy_tasks")) return;
  const TempDir folder;
  const std::string config = (folder / "sort.yaml").string();
  write_text(config, text("precision: ", precision_name,
                          "\ndata: {type: sort, length: 3, symbols: 4}\n"
                          "model: {type: gpt, d_model: 4, num_heads: 1, num_layers: 1, "
                          "attention: {type: linear, d_in: 4, d_out: 4}}\n"
                          "train: {steps: 2, batch_size: 4}\n"));
  const std::string shown = on_terminal({"train", config, "--out", (folder / "sort").string()});
  CHECK(!contains(shown, "heed generate"));
  CHECK(!contains(shown, "--attention"));
  CHECK(contains(shown, "\nlook       ") == has_command("report"));
  CHECK(contains(shown, "\ngo on      "));
}
