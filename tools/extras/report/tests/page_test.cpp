// The contents of report.html, for runs with any contents.
#include "tools/extras/report/page.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/training_run.h"
#include "tools/extras/report/data.h"
#include "tools/extras/report/pages/page.h"
#include "tools/extras/report/record.h"

using namespace heed;
using namespace heed::testing;
using Json = nlohmann::json;

namespace {

namespace fs = std::filesystem;

const char* const header = "step,loss,val_loss,lr,grad_norm,tokens,seconds,bits_per_byte\n";
const char* const hostile = "</script><img src=x onerror=alert(1)><!-- & \xE2\x80\xA8 \xFF";

// A run folder as after training, made without training.
fs::path make_run(const TempDir& folder, const std::string& name, const std::string& config) {
  fs::create_directory(folder / name);
  write_text(folder / (name + "/config.yaml"), config);
  return folder / name;
}

std::string data_text(const std::vector<fs::path>& runs) {
  std::vector<std::string> warnings;
  const std::string data = report_data(runs, warnings);
  CHECK(warnings.empty());
  return data;
}

Json data_of(const std::vector<fs::path>& runs) { return Json::parse(data_text(runs)); }

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// The JSON data inside the page.
std::string data_in(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = page.find(open) + open.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

}  // namespace

TEST_CASE("report page: a damaged row is left out and named; data that has moved is shown there") {
  const TempDir folder;
  const fs::path run = make_run(folder, "one", "data: {path: /old/text.txt}\ntrain: {steps: 9}\n");
  write_text(run / "metrics.csv", header + std::string("1,2,,,,,,\n2,x\n3,1,,,,,,\n"));
  std::vector<std::string> warnings;
  const Json data = Json::parse(report_data({&run, 1}, warnings, {}, {"data.path=/new/text.txt"}));
  CHECK(warnings == std::vector<std::string>{(run / "metrics.csv").string() +
                                             ":3: expected at least 8 numbers between commas; left "
                                             "out"});
  CHECK(data["runs"][0]["rows"].size() == 2);
  CHECK(data["runs"][0]["config"]["data.path"] == "/new/text.txt");
  CHECK(data["runs"][0]["yaml"].get<std::string>().find("/old/") == std::string::npos);
}

TEST_CASE("report page: a run that has written nothing yet but its config") {
  const TempDir folder;
  const fs::path run = make_run(folder, "one", "seed: 1\ntrain: {steps: 9}\n");
  const Json data = data_of({run});
  REQUIRE(data["runs"].size() == 1);
  CHECK(data["runs"][0]["name"] == "one");
  CHECK(data["runs"][0]["rows"].empty());
  CHECK(data["runs"][0]["samples"].empty());
  CHECK(data["runs"][0]["config"]["train.steps"] == "9");
  CHECK(report_page(data_text({run})).starts_with("<!DOCTYPE html>"));
  CHECK_THROWS_AS(data_of({folder / "none"}), IoError);
}

TEST_CASE("report page: rows, totals, samples") {
  const TempDir folder;
  const fs::path run = make_run(folder, "one", "train: {steps: 30}\n");
  write_text(run / "metrics.csv", std::string(header) +
                                      "10,4.12345678,,0.001,2,640,1,\n"
                                      "20,3.5,3.75,0.001,,1280,2,\n30,,3.9,0.001,1,1920,4,\n");
  write_text(run / "samples.txt", "--- step 10\nfirst\nof two lines\n--- step 20\nsecond\n");
  const Json data = data_of({run})["runs"][0];
  CHECK(data["rows"] == Json::parse("[[10,4.12346,null,0.001,2.0,640,1.0],"
                                    "[20,3.5,3.75,0.001,null,1280,2.0],"
                                    "[30,null,3.9,0.001,1.0,1920,4.0]]"));
  CHECK(data["totals"][0] == Json{"steps", "30 of 30"});
  CHECK(data["totals"][3] == Json{"tokens/s in training", "427"});  // 1,280 tokens in 3 seconds
  CHECK(data["speed"] == Json::parse("[[20,640.0],[30,320.0]]"));
  CHECK(!data_of({run}).contains("going_on"));
  const GoingOn now{1'700'000'000, 5};
  std::vector<std::string> warnings;
  CHECK(Json::parse(report_data({&run, 1}, warnings, now))["going_on"] ==
        Json{{"written", 1'700'000'000}, {"reload", 5}});
  CHECK(data["totals"].back() == Json{"lowest validation loss", "3.7500 at step 20"});
  REQUIRE(data["samples"].size() == 2);
  CHECK(data["samples"][0]["step"] == 10);
  CHECK(data["samples"][0]["text"] == "first\nof two lines");
  CHECK(data["samples"][1]["text"] == "second\n");
}

TEST_CASE("report page: losses that layers add, by name") {
  const TempDir folder;
  const fs::path run = make_run(folder, "one", "train: {steps: 30}\n");
  write_text(run / "metrics.csv",
             "step,loss,val_loss,lr,grad_norm,tokens,seconds,bits_per_byte,"
             "load_balancing,z_loss\n"
             "10,4.5,,0.001,2,640,1,,0.0125\n"
             "20,3.5,3.75,0.001,1,1280,2,,0.011,0.25\n"
             "25,,3.5,,,1600,3,\n");
  const Json data = data_of({run})["runs"][0];
  CHECK(data["added"] == Json{"load_balancing", "z_loss"});
  CHECK(data["rows"] == Json::parse("[[10,4.5,null,0.001,2.0,640,1.0,0.0125,null],"
                                    "[20,3.5,3.75,0.001,1.0,1280,2.0,0.011,0.25],"
                                    "[25,null,3.5,null,null,1600,3.0,null,null]]"));
}

TEST_CASE("report page: nothing from outside becomes markup") {
  const TempDir folder;
  const fs::path run = make_run(folder, "<b>&run", "sample: {prompt: \"</script><b>\"}\n");
  write_text(run / "samples.txt", std::string("--- step 1\n") + hostile);
  ReportRecord record;
  record.facts = {{hostile, hostile}};
  record.snapshots = {
      {3, hostile, hostile, {{hostile, false, {hostile}, {hostile}, 1, "AA=="}}, 0}};
  write_text(run / "report.json", to_json(record));
  const std::string page = report_page(data_text({run}));
  // Only the elements of page.html, and no others.
  CHECK(count(page, "</script>") == 5);
  const std::string data = data_in(page);
  CHECK(data.find_first_of("<>&") == std::string::npos);
  const Json read = Json::parse(data)["runs"][0];  // the data is complete
  CHECK(read["name"] == "<b>&run");
  CHECK(read["config"]["sample.prompt"] == "</script><b>");
  const std::string sample = read["samples"][0]["text"];
  CHECK(sample.starts_with("</script><img src=x onerror=alert(1)><!-- & "));
  CHECK(read["record"]["facts"][0][0] == sample);
  CHECK(read["record"]["snapshots"][0]["prompt"] == sample);
  CHECK(page.find("http-equiv=\"Content-Security-Policy\"") != std::string::npos);
}

TEST_CASE("report page: a long run stays small, its evaluations and both ends stay") {
  const TempDir folder;
  const fs::path run = make_run(folder, "long", "train: {steps: 200000}\n");
  std::string rows = header;
  for (int step = 1; step <= 20'000; ++step) {
    rows += text(step, ",2.5,", step % 2000 == 0 ? "2.25" : "", ",0.001,1,", step * 64, ",",
                 step / 10, ",\n");
  }
  write_text(run / "metrics.csv", rows);
  std::string samples;
  for (int step = 1; step <= 3000; ++step) {
    samples += text("--- step ", step, "\n", std::string(4000, 'x'), "\n");
  }
  write_text(run / "samples.txt", samples);
  ReportRecord record;
  for (int64_t step = 0; step < 12; ++step) {
    ReportRecord::Snapshot snapshot{step, "p", "a", {}, 0};
    ReportRecord::Map map{"att", false, {}, {}, 300, std::string(300 * 400 / 3 * 4, 'A')};
    map.queries = map.keys = std::vector<std::string>(20, "name");
    snapshot.maps = {map};
    record.snapshots.push_back(snapshot);
  }
  write_text(run / "report.json", to_json(record));
  for (const size_t runs : {1, 12}) {
    const std::vector<fs::path> all(runs, run);
    const std::string page = report_page(data_text(all));
    CHECK(page.size() < 3'000'000);
    const Json of = Json::parse(data_in(page))["runs"][0];
    CHECK(of["rows"].front()[0] == 1);
    CHECK(of["rows"].back()[0] == 20'000);
    CHECK(of["rows"].size() >= 100);
    CHECK(of["samples"].back()["step"] == 3000);
    int evaluations = 0;
    for (const Json& row : of["rows"]) evaluations += row[2].is_null() ? 0 : 1;
    CHECK(evaluations == 10);
  }
  CHECK(data_of({run})["runs"][0]["record"]["snapshots"].size() == 8);
}

TEST_CASE("report page: two runs of the same name are told apart") {
  const TempDir folder;
  fs::create_directory(folder / "a");
  fs::create_directory(folder / "b");
  const Json data =
      data_of({make_run(folder, "a/run", "seed: 1\n"), make_run(folder, "b/run", "seed: 2\n")});
  CHECK(data["runs"][0]["name"] == "run");
  CHECK(data["runs"][1]["name"] == (folder / "b/run").string());
}

TEST_CASE("report page: the specifications are JSON") {
  for (const std::string_view spec : {asset("report/curve"), asset("report/heat_map")}) {
    const Json json = Json::parse(spec);
    CHECK(json["$schema"] == "https://vega.github.io/schema/vega/v5.json");
    CHECK(!json["marks"].empty());
  }
  CHECK(asset("report/page").find("{{data}}") != std::string_view::npos);
}
