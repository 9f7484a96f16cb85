// train.show, as a user asks for it. What is printed of a layer: tests/tools/wings/vectors.
#include <doctest/doctest.h>

#include "tests/support/training_run.h"
#include "tools/wings/show/parameter_printer.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("train.show: all parameters of a layer, when training begins and ends, also resumed") {
  const TempDir folder;
  const std::string config = write_config(folder), run = (folder / "run").string();
  const auto show = [](const std::string& names) {
    return std::vector<std::string>{"--set", "train.show=[" + names + "]"};
  };
  std::vector<std::string> words{"train", config, "--out", run, "--set", "train.steps=2"};
  const std::vector<std::string> norm = show("final_norm, out_head.weight");
  words.insert(words.end(), norm.begin(), norm.end());
  const std::string said = succeeded(words).err;
  for (const char* name : {"final_norm.scale", "final_norm.shift", "out_head.weight"}) {
    CHECK(contains(said, text(name, ", before training\ntensor([")));
    CHECK(contains(said, text(name, ", after step 2\ntensor([")));
  }
  CHECK(contains(said, "final_norm.scale, before training\ntensor([1., 1., 1., "));
  const std::string later = succeeded({"train", "--resume", run, "--set", "train.steps=3", "--set",
                                       "train.show=[final_norm.shift]"})
                                .err;
  CHECK(contains(later, "final_norm.shift, after step 2\n"));
  CHECK(contains(later, "final_norm.shift, after step 3\n"));
  CHECK(!contains(later, "final_norm.scale, "));

  const ProgramResult wrong =
      run_heed({"train", config, "--set", "train.show=[final_norm, trf_blocks.0.at]"});
  CHECK(wrong.exit_code == 2);
  CHECK(contains(wrong.err,
                 "train.show.1: no parameter or layer is called trf_blocks.0.at, did you mean "
                 "trf_blocks.0.att?"));
}
