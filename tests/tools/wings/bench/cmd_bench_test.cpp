// heed bench, as a user runs it.
#include "tests/support/json_errors.h"
#include "tests/support/source_tree.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;
using Json = nlohmann::json;

TEST_CASE("heed bench: an error is one object on standard output too") {
  check_json_error({"bench", "no_such_config.yaml"});
}

TEST_CASE("heed bench: a model that reads vectors") {
  if (!house::has_wing("vectors")) {
    MESSAGE("skipped: vectors belong to the wing vectors");
    return;
  }
  const std::string config = (house::root() / "configs/wings/vectors/six_vectors.yaml").string();
  CHECK(contains(run_heed({"bench", config, "--steps", "2"}).out, "memory "));
}

TEST_CASE("heed bench: more steps to time than numbers") {
  const TempDir folder;
  const ProgramResult bench =
      run_heed({"bench", write_config(folder), "--steps", "9223372036854775807"});
  CHECK(bench.exit_code == 2);
  CHECK(bench.err == "heed bench: expected --steps from 1 to 1000000, got 9223372036854775807\n");
}

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

TEST_CASE("heed bench --model-threads: how much faster more threads would be, by a run on one") {
  const TempDir folder;
  const std::string config = write_config(folder);
  const ProgramResult bench = run_heed({"bench", config, "--steps", "3", "--model-threads", "2,8",
                                        "--json", "--set", "model.d_model=48"});
  REQUIRE_MESSAGE(bench.exit_code == 0, bench.err);
  const Json result = Json::parse(bench.out);
  REQUIRE(result["model"].size() == 2);
  CHECK(result["model"]["2"].get<double>() > 0);
  CHECK(result["model"]["8"].get<double>() < 8);
  CHECK(result["loops_per_step"].get<int64_t>() > 10);
  CHECK(result["serial_share"].get<double>() > 0);
  CHECK(result["serial_share"].get<double>() < 1);
  CHECK(result["idle"].size() > 1);
  for (const char* wrong : {"2,x", ",", "2,", "0", "-1", "2 4", "99999999999", "1025"}) {
    CAPTURE(wrong);
    const ProgramResult refused =
        run_heed({"bench", config, "--steps", "3", "--model-threads", wrong});
    CHECK(refused.exit_code == 2);
    CHECK(refused.err.find("expected --model-threads") != std::string::npos);
  }
}

TEST_CASE("heed bench: --threads wins over OMP_NUM_THREADS") {
  const TempDir folder;
  const std::string config = write_config(folder);
  const auto timed_with = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"bench", config, "--steps", "1", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return Json::parse(run_heed(words, {"OMP_NUM_THREADS=1"}).out).at("threads").get<int>();
  };
  CHECK(timed_with({}) == 1);
  CHECK(timed_with({"--threads", "3"}) == 3);
}
