// report.json: quantised attention maps, their number and size, and rejection of invalid files.
#include "tools/extras/report/record.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

using namespace heed;
using namespace heed::testing;

namespace {

AttentionMap map_of(int64_t heads, int64_t queries, int64_t keys,
                    const std::vector<real>& weights) {
  AttentionMap map{"att", false, {}, {}, {}};
  for (int64_t t = 0; t < queries; ++t) map.queries.push_back(std::to_string(t));
  for (int64_t s = 0; s < keys; ++s) map.keys.push_back(std::to_string(s));
  map.weights = Array::full({heads, queries, keys}, real{0.5});
  std::copy(weights.begin(), weights.end(), map.weights.mutable_data());
  return map;
}

ReportRecord::Snapshot at(int64_t step) { return {step, "p", "a", {}, 0}; }

std::vector<int64_t> steps_of(const std::vector<ReportRecord::Snapshot>& snapshots) {
  std::vector<int64_t> steps;
  for (const auto& snapshot : snapshots) steps.push_back(snapshot.step);
  return steps;
}

Evaluation half_right() {
  Evaluation evaluation;
  evaluation.accuracy = 0.75;
  evaluation.exact_match = 0.5;
  evaluation.by_length[4] = {10, 5};
  evaluation.seconds = 0.125;
  return evaluation;
}

}  // namespace

TEST_CASE("report record: weights are bytes in base64, 255 for 1") {
  const AttentionMap map = map_of(1, 2, 2, {1, 0, real{0.25}, real{0.75}});
  const ReportRecord::Snapshot made = snapshot(7, {"prompt", "answer", {}}, {map});
  REQUIRE(made.maps.size() == 1);
  CHECK(made.step == 7);
  CHECK(made.prompt == "prompt");
  CHECK(made.maps[0].weights == "/wBAvw==");  // 255 0 64 191
  CHECK(made.maps[0].heads == 1);
}

TEST_CASE("report record: long sequences are cut, then layers left out, to fit") {
  const std::vector<AttentionMap> maps{map_of(2, 30, 20, {}), map_of(2, 30, 20, {})};
  const ReportRecord::Snapshot cut = snapshot(0, {}, maps, 900);
  REQUIRE(cut.maps.size() == 2);
  CHECK(cut.maps[0].queries.size() == 15);  // 4 heads of 15 x 15
  CHECK(cut.maps[0].keys.size() == 15);
  CHECK(cut.maps[0].weights.size() == 2 * 15 * 15 / 3 * 4);
  CHECK(cut.omitted == 0);
  const ReportRecord::Snapshot few = snapshot(0, {}, maps, 200);
  CHECK(few.maps.size() == 1);
  CHECK(few.omitted == 1);
  CHECK(few.maps[0].queries.size() == 8);
}

TEST_CASE("report record: snapshots are thinned evenly, the first and the last stay") {
  ReportRecord record;
  for (int64_t step = 0; step <= 1000; step += 10) record.add(at(step));
  const std::vector<int64_t> steps = steps_of(record.snapshots);
  CHECK(steps.size() == 12);
  CHECK(steps.front() == 0);
  CHECK(steps.back() == 1000);
  for (size_t i = 1; i + 1 < steps.size(); ++i) {  // the last one is always kept
    CHECK(steps[i] - steps[i - 1] >= 30);
    CHECK(steps[i] - steps[i - 1] <= 260);
  }
}

TEST_CASE("report record: written, read and cut back to a step") {
  const TempDir folder;
  ReportRecord record;
  record.facts = {{"model", "gpt"}, {"data", "</script>"}};
  record.target = "answers right";
  record.outputs = 65;
  record.add(10, half_right());
  record.add(20, half_right());
  for (const int64_t step : {0, 10, 20}) record.add(at(step));
  record.snapshots.back() = snapshot(20, {"\xFF", "b", {}}, {map_of(3, 2, 4, {})});
  write_text(folder / "report.json", to_json(record));
  ReportRecord read = read_record(folder / "report.json");
  CHECK(read.facts == record.facts);
  REQUIRE(read.snapshots.size() == 3);
  CHECK(read.snapshots[2].prompt == "\xEF\xBF\xBD");  // invalid UTF-8 is replaced
  CHECK(read.snapshots[2].maps[0].weights == record.snapshots[2].maps[0].weights);
  REQUIRE(read.evaluations.size() == 2);
  CHECK(read.evaluations[1].accuracy == 0.75);
  CHECK(read.evaluations[1].seconds == 0.125);
  CHECK(read.target == record.target);
  CHECK(read.outputs == 65);
  CHECK(read.by_length[0].exact == 5);
  read.cut(10);
  CHECK(read.evaluations.size() == 1);
  CHECK(steps_of(read.snapshots) == std::vector<int64_t>{0, 10});
}

TEST_CASE("report record: the picture that a model has read") {
  const TempDir folder;
  ReportRecord record;
  record.picture = ShownPicture{2, 4, 2, true, {0, 1, 2, 3, 4, 5, 6, 255}};
  record.add(at(0));
  write_text(folder / "report.json", to_json(record));
  const auto read = read_record(folder / "report.json").picture;
  REQUIRE(read);
  CHECK(to_json(*read) == to_json(*record.picture));
  const std::string whole = to_json(record);
  for (const auto& [right, wrong] :
       std::vector<std::pair<std::string, std::string>>{{"\"height\":2", "\"height\":3"},
                                                        {"\"side\":2", "\"side\":0"},
                                                        {",255]", "]"},
                                                        {"\"width\":4", "\"width\":-4"}}) {
    std::string damaged = whole;
    damaged.replace(damaged.find(right), right.size(), wrong);
    write_text(folder / "report.json", damaged);
    const ReportRecord none = read_record(folder / "report.json");
    CAPTURE(damaged);
    CHECK(!none.picture);
    CHECK(none.snapshots.empty());
  }
}

TEST_CASE("report record: a file that is none counts as nothing") {
  const TempDir folder;
  ReportRecord record;
  record.facts = {{"model", "gpt"}};
  record.snapshots = {snapshot(1, {"p", "a", {}}, {map_of(1, 2, 2, {})})};
  const std::string good = to_json(record);
  const auto facts_in = [&](const std::string& text) {
    write_text(folder / "report.json", text);
    return read_record(folder / "report.json").facts.size();
  };
  CHECK(facts_in(good) == 1);
  const auto with = [&](const char* path, const nlohmann::json& value) {
    nlohmann::json changed = nlohmann::json::parse(good);
    changed[nlohmann::json::json_pointer(path)] = value;
    return facts_in(changed.dump());
  };
  CHECK(with("/snapshots/0/maps/0/heads", 2) == 0);
  CHECK(with("/snapshots/0/maps/0/heads", -1) == 0);
  CHECK(with("/snapshots/0/maps/0/heads", 4611686018427387905) == 0);
  CHECK(with("/snapshots/0/maps/0/queries", 3) == 0);
  CHECK(with("/snapshots/0/step", "x") == 0);
  CHECK(with("/facts", nlohmann::json::array({1})) == 0);
  CHECK(facts_in(good.substr(0, good.size() / 2)) == 0);
  CHECK(facts_in(std::string(100'000, '[')) == 0);
  CHECK(facts_in("") == 0);
  CHECK(read_record(folder / "no.json").facts.empty());
  CHECK(read_record(folder.path()).facts.empty());
}
