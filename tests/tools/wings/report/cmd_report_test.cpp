// heed report, as a user runs it.
#include <doctest/doctest.h>

#include "autograd/base/error.h"
#include "autograd/base/real.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"
#include "tests/support/training_run.h"
#include "tests/train/wings/translation/configs.h"

using namespace heed;
using namespace heed::testing;

namespace fs = std::filesystem;

TEST_CASE("heed report: one run, two runs, no run") {
  const TempDir folder;
  const std::string config = config_of(folder, "copy", copying);
  const std::string one = (folder / "one").string(), two = (folder / "two").string();
  REQUIRE(run_heed({"train", config, "--out", one}).exit_code == 0);
  REQUIRE(run_heed({"train", config, "--out", two, "--set", "seed=7"}).exit_code == 0);
  const std::string page = read_text(one + "/report.html");
  CHECK(page.find("\"name\":\"one\"") != std::string::npos);
  fs::remove(one + "/report.html");
  const ProgramResult again = run_heed({"report", one});
  CHECK(again.out == one + "/report.html\n");
  CHECK(read_text(one + "/report.html") == page);

  fs::remove(one + "/report.html");  // a checkpoint argument means its run
  REQUIRE(run_heed({"report", one + "/checkpoints/step-000002"}).exit_code == 0);
  CHECK(read_text(one + "/report.html") == page);

  const std::string both = (folder / "both.html").string();
  REQUIRE(run_heed({"report", one, two, "--out", both}).exit_code == 0);
  const std::string compared = read_text(both);
  CHECK(compared.find("\"name\":\"one\"") != std::string::npos);
  CHECK(compared.find("\"name\":\"two\"") != std::string::npos);
  CHECK(compared.size() < 3'000'000);

  const ProgramResult none = run_heed({"report", folder.path().string()});
  CHECK(none.exit_code == 1);
  CHECK(none.err.find("expected a run folder") != std::string::npos);
  CHECK(run_heed({"report"}).exit_code == 2);
  CHECK(run_heed({"report", one, "--out", (folder / "no/where.html").string()}).exit_code == 1);
}

TEST_CASE("heed report: where a run may be, and data that has moved") {
  const TempDir folder;
  const std::string config = write_config(folder);
  const std::string run = (folder / "checkpoints/step-000007").string();
  REQUIRE(run_heed({"train", config, "--out", run}).exit_code == 0);
  CHECK(run_heed({"report", run}).exit_code == 0);
  const std::string model = (folder / "my_model").string();
  fs::copy(run + "/checkpoints/step-000012", model);
  const ProgramResult copy = run_heed({"report", model});
  CHECK(copy.exit_code == 1);
  CHECK(copy.err == "heed: " + model +
                        ": a checkpoint without its run: metrics.csv is missing, from which a "
                        "report is made; give the run folder\n");
  fs::create_directory(folder / "moved");
  fs::rename(folder / "text.txt", folder / "moved/new.txt");
  const std::string set = "data.path=" + (folder / "moved/new.txt").string();
  CHECK(run_heed({"report", run, "--set", set}).exit_code == 0);
  CHECK(contains(read_text(run + "/report.html"), (folder / "moved/new.txt").string()));
}

TEST_CASE("heed report: a link that leads to itself is named") {
  const TempDir folder;
  const fs::path run = folder / "run", loop = folder / "loop";
  REQUIRE(run_heed({"train", write_config(folder), "--out", run.string()}).exit_code == 0);
  fs::create_symlink(loop, loop);
  fs::remove(run / "config.yaml");
  fs::create_symlink(run / "config.yaml", run / "config.yaml");
  for (const fs::path& given : {run, loop}) {
    const ProgramResult refused = run_heed({"report", given.string()});
    CHECK(refused.exit_code != 0);
    CHECK_MESSAGE(contains(refused.err, given.string() + ":"), refused.err);
    CHECK_MESSAGE(!contains(refused.err, "filesystem error"), refused.err);
  }
}
