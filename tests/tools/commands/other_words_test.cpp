// A wrong command line: what the message leads to.
#include <doctest/doctest.h>

#include "tests/support/run_program.h"

using namespace heed::testing;

namespace {

struct Wrong {
  std::vector<std::string> words;
  std::string message;  // without "heed"
};

const std::vector<Wrong> command_lines = {
    // Options on the wrong side of the command
    {{"--json", "validate", "c.yaml"},
     " validate: unknown option --json; it goes after the command: heed validate --json"},
    {{"--set", "train.steps=3", "train", "c.yaml"},
     " train: unknown option --set; it goes after the command: heed train --set"},
    {{"train", "c.yaml", "--plugin", "p.so"},
     " train: unknown option --plugin; it goes before the command: heed --plugin FILE train"},
    // Commands of other tools
    {{"evaluate", "run"}, ": unknown command evaluate, did you mean heed eval?"},
    {{"sample", "run"}, ": unknown command sample, did you mean heed generate?"},
    {{"fit", "c.yaml"}, ": unknown command fit, did you mean heed train?"},
    {{"resume", "run"}, ": unknown command resume, did you mean heed train --resume?"},
    {{"help"}, ": unknown command help, did you mean heed --help?"},
    {{"help", "train"}, " train: unexpected argument help, did you mean heed train --help?"},
    {{"version"}, ": unknown command version, did you mean heed --version?"},
    {{"trian"}, ": unknown command trian, did you mean train?"},
    {{"zzz"}, ": unknown command zzz; see heed --help"},
    // Options
    {{"train", "c.yaml", "--lr", "1e-3"}, " train: unknown option --lr; see heed train --help"},
    {{"train", "c.yaml", "--thread", "3"},
     " train: unknown option --thread, did you mean "
     "--threads?"},
    {{"eval", "--lr", "3"}, " eval: unknown option --lr; see heed eval --help"},
};

}  // namespace

TEST_CASE("heed: --trust-plugins before or after the command") {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--trust-plugins", "eval", "nowhere"},
        {"eval", "--trust-plugins", "nowhere"},
        {"eval", "nowhere", "--trust-plugins"}}) {
    CHECK(run_heed(words).err == run_heed({"eval", "nowhere"}).err);
  }
}

TEST_CASE("heed: what a wrong command line leads to") {
  for (const Wrong& wrong : command_lines) {
    const ProgramResult result = run_heed(wrong.words);
    CHECK(result.exit_code == 2);
    CHECK(result.err == "heed" + wrong.message + "\n");
    CHECK(result.err.size() < 200);
  }
}
