// gradients.csv as the report gets it.
#include "tools/extras/gradients/report/gradient_section.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("gradient section: norms by step and parameter, whole steps alone") {
  const TempDir run;
  const GradientSection section;
  CHECK(section.data(run.path()).empty());
  const std::string heading = "step,parameter,grad_norm,weight_norm,update_norm\n";
  write_text(run / "gradients.csv", heading);
  CHECK(section.data(run.path()).empty());
  write_text(run / "gradients.csv", heading +
                                        "10,a.weight,1,2,0.5\n10,a.bias,0,0,0.25\n"
                                        "20,a.weight,3,4,0.5\n20,a.bias,1e-9,0,0\n"
                                        "30,a.weight,5,6,0.5\n30,a.bi");
  const auto data = nlohmann::json::parse(section.data(run.path()));
  CHECK(data["steps"] == nlohmann::json{10, 20});
  CHECK(data["parameters"] == nlohmann::json{"a.weight", "a.bias"});
  CHECK(data["grad_norm"][0] == nlohmann::json{1.0, 0.0});
  CHECK(data["grad_norm"][1][1].get<double>() == doctest::Approx(1e-9));
  CHECK(data["weight_norm"][1] == nlohmann::json{4.0, 0.0});
  CHECK(data["update_norm"][0] == nlohmann::json{0.5, 0.25});
}

TEST_CASE("gradient section: a long run is thinned out, first and last step included") {
  const TempDir run;
  std::string file = "step,parameter,grad_norm,weight_norm,update_norm\n";
  for (int step = 1; step <= 30'000; ++step) {
    file += std::to_string(step) + ",a,1,1,1\n" + std::to_string(step) + ",b,1,1,1\n";
  }
  write_text(run / "gradients.csv", file);
  const auto data = nlohmann::json::parse(GradientSection().data(run.path()));
  CHECK(data["steps"].size() == 10'000);
  CHECK(data["steps"].front() == 1);
  CHECK(data["steps"].back() == 30'000);
}
