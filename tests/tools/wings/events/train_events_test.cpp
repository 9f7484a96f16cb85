// heed train --json: an object a line.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/training_run.h"
#include "train/run/metrics.h"

using namespace heed;
using namespace heed::testing;
using Json = nlohmann::json;

namespace {

std::vector<Json> events_of(const ProgramResult& result) {
  std::vector<Json> events;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    events.push_back(Json::parse(line));
  }
  return events;
}

// A row as metrics.csv has it.
MetricsRow row_of(const Json& event) {
  const auto number = [&](const char* key) {
    return event.at(key).is_null() ? std::nullopt : std::optional(event.at(key).get<double>());
  };
  return {.step = event.at("step"),
          .loss = number("loss"),
          .val_loss = number("val_loss"),
          .lr = number("lr"),
          .grad_norm = number("grad_norm"),
          .tokens = event.at("tokens").get<int64_t>(),
          .seconds = number("seconds"),
          .bits_per_byte = number("bits_per_byte")};
}

}  // namespace

TEST_CASE("heed train --json: the plan, each row of metrics.csv, the end") {
  const TempDir folder;
  const std::string config = write_config(folder), out = (folder / "run").string();
  const std::vector<Json> events =
      events_of(succeeded({"train", config, "--json", "--out", out, "--set", "eval.every=6"}));
  REQUIRE(events.size() == 7);
  CHECK(events.front().at("event") == "plan");
  CHECK(events.front().at("run") == out);
  CHECK(events.front().at("step") == 0);
  CHECK(events.front().at("steps") == 12);
  CHECK(events.front().at("tokens_per_step") == 32);
  CHECK(events.front().at("warnings") == Json::array());
  std::istringstream lines(read_text(folder / "run/metrics.csv"));
  std::string line;
  std::getline(lines, line);  // the names of the columns
  for (size_t i = 1; i < 6; ++i) {
    CHECK(events[i].at("event") == "row");
    std::getline(lines, line);
    CHECK(metrics_line(row_of(events[i])) == line);
  }
  CHECK(!std::getline(lines, line));
  CHECK(events.back() ==
        Json{{"event", "end"}, {"ending", "finished"}, {"step", 12}, {"run", out}});
}

TEST_CASE("heed train --json: a dry run has the plan alone, an error the keys of all commands") {
  const TempDir folder;
  const std::string config = write_config(folder);
  const ProgramResult dry = succeeded({"train", config, "--json", "--dry-run", "--set",
                                       "schedule={type: constant, warmup_steps: 50}"});
  const Json plan = Json::parse(dry.out);
  CHECK(plan.at("event") == "plan");
  CHECK(!plan.contains("run"));
  CHECK(plan.at("warnings").size() == 1);
  const ProgramResult wrong = run_heed({"train", config, "--json", "--set", "model.num_head=2"});
  CHECK(wrong.exit_code == 2);
  CHECK(Json::parse(wrong.out).at("mistakes").at(0).at("path") == "model.num_head");
}

TEST_CASE("heed train --json: time that is over, and nothing left to do") {
  const TempDir folder;
  const std::string config = write_config(folder), out = (folder / "run").string();
  const std::vector<Json> events =
      events_of(succeeded({"train", config, "--json", "--out", out, "--max-seconds", "0.05",
                           "--set", "train.steps=1000000"}));
  CHECK(events.back().at("ending") == "out_of_time");
  const int64_t step = events.back().at("step");
  const std::vector<Json> done = events_of(
      succeeded({"train", "--json", "--resume", out, "--set", text("train.steps=", step)}));
  REQUIRE(done.size() == 2);
  CHECK(done.front().at("step") == step);
  CHECK(done.back().at("ending") == "finished");
}

TEST_CASE("heed train --json: a run whose rows nobody reads saves and ends") {
  const TempDir folder;
  const std::string config = write_config(folder), out = (folder / "run").string();
  const std::string program = HEED_BUILD_DIR + std::string(is_float64 ? "/heed-f64" : "/heed");
  // The one who reads leaves after the plan, or soon after.
  const ProgramResult result =
      run_program("/bin/sh", {"-c",
                              "\"$0\" train \"$1\" --json --out \"$2\" --set "
                              "train.steps=1000000 | head -n 1",
                              program, config, out});
  CHECK(Json::parse(result.out).at("event") == "plan");
  CHECK(contains(read_text(folder / "run/log.txt"), ", saved; go on with"));
  CHECK(read_metrics(folder / "run/metrics.csv").back().step < 1000000);
}
