// The numbers of heed bench. What it refuses: tests/transcripts/bench.txt.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;
using Json = nlohmann::json;

TEST_CASE("heed bench: the trainer's own steps, to the same loss, and where their time goes") {
  const TempDir folder;
  const std::string config = write_config(folder), out = (folder / "run").string();
  REQUIRE(run_heed({"train", config, "--out", out, "--set", "schedule.type=cosine"}).exit_code ==
          0);
  const ProgramResult bench = run_heed(
      {"bench", config, "--steps", "9", "--profile", "--json", "--set", "schedule.type=cosine"});
  REQUIRE_MESSAGE(bench.exit_code == 0, bench.err);
  const Json result = Json::parse(bench.out);
  // Three warm-up steps and nine timed ones: the run's twelve.
  const std::string metrics = read_text(folder / "run/metrics.csv");
  const std::string last = metrics.substr(metrics.rfind("\n12,") + 4);
  CHECK(result["loss"].get<double>() == doctest::Approx(std::stod(last)).epsilon(1e-8));

  const Json& profile = result["profile"];
  REQUIRE(profile.size() > 3);
  bool products = false;
  double sum = 0;
  for (const Json& row : profile) {
    CHECK(row.contains("ms") == (row == profile.back()));
    sum += row.contains("ms") ? row["ms"].get<double>()
                              : row["forward_ms"].get<double>() + row["backward_ms"].get<double>();
    products = products || (row["op"] == "linear" && row["calls"].get<double>() >= 1 &&
                            row["gflops"].get<double>() > 0 && row["gb_per_second"] > 0);
  }
  CHECK(products);
  CHECK(profile.back()["op"] == "batch, clipping, optimizer");
  CHECK(sum > 0);
  CHECK(result["gflop_per_step"].get<double>() > 0);
}
