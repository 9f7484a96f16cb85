// The report of a run in training: written at every evaluation, and never a reason to stop.
#include "tools/extras/report/run_report.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/compare_runs.h"
#include "tests/support/echo_task.h"
#include "tests/support/source_tree.h"
#include "tests/support/training_run.h"
#include "train/data/generate.h"
#include "train/trainer.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> more_of_everything = {
    "eval={every: 4, batches: 1}", "sample={every: 6, tokens: 5}", "checkpoint={every: 4, keep: 9}",
    "model.dropout=0.1"};

Ending train_with_report(Trainer& trainer) {
  RunReport report;
  trainer.add_hooks(report);
  return trainer.train();
}

Ending train(const TempDir& folder, const std::string& name) {
  Trainer trainer(load_small(folder, more_of_everything), RunFolder::create(folder / name, ""));
  return train_with_report(trainer);
}

// report.json but for how long the evaluations took.
nlohmann::json without_seconds(const fs::path& run) {
  nlohmann::json record = nlohmann::json::parse(read_text(run / "report.json"));
  for (nlohmann::json& evaluation : record["evaluations"]) evaluation.erase("seconds");
  return record;
}

std::vector<int64_t> snapshot_steps(const fs::path& run) {
  std::vector<int64_t> steps;
  for (const auto& snapshot : read_record(run / "report.json").snapshots) {
    steps.push_back(snapshot.step);
  }
  return steps;
}

}  // namespace

TEST_CASE("run report: both files, a snapshot before training and at every evaluation") {
  const TempDir folder;
  CHECK(train(folder, "run") == Ending::finished);
  const ReportRecord record = read_record(folder / "run/report.json");
  CHECK(snapshot_steps(folder / "run") == std::vector<int64_t>{0, 4, 8, 12});
  REQUIRE(record.evaluations.size() == 3);
  CHECK(record.evaluations[2].step == 12);
  CHECK(record.facts[0].second == "gpt");
  CHECK(record.snapshots[3].maps.size() == 1);
  CHECK(record.snapshots[3].maps[0].heads == 3);
  CHECK(record.snapshots[0].maps[0].weights != record.snapshots[3].maps[0].weights);
  const std::string page = read_text(folder / "run/report.html");
  CHECK(page.find(record.snapshots[3].maps[0].weights) != std::string::npos);
}

TEST_CASE("run report: the page of a run that is going on says so, the last one does not") {
  const TempDir folder;
  LoadedRun loaded = load_small(folder);
  apply_settings(loaded.config);
  const auto model = make_layer(loaded.config.model);
  RunReport report;
  fs::create_directory(folder / "run");
  write_text(folder / "run/config.yaml", "train: {steps: 12}\n");
  report.on_begin({folder / "run", loaded, *model}, 0);
  Evaluation evaluation;
  evaluation.seconds = 0.25;
  report.on_evaluation(4, evaluation);
  const std::string going_on = "\"going_on\":{\"written\":";
  CHECK(contains(read_text(folder / "run/report.html"), going_on));
  report.on_end(12, false);
  CHECK(!contains(read_text(folder / "run/report.html"), going_on));
  const ReportRecord record = read_record(folder / "run/report.json");
  CHECK(record.target == "next character guessed right");
  CHECK(record.outputs == loaded.task->tokenizer()->vocab_size());
  CHECK(record.evaluations[0].seconds == 0.25);
}

TEST_CASE("run report: what the accuracy counts is named after the task") {
  const TempDir folder;
  for (const auto& [data, target] : std::vector<std::pair<std::string, std::string>>{
           {"{type: negation}", "answers right"},
           {"{type: modular_addition}", "tokens of the answer right"},
           {"{type: text, path: text.txt, tokenizer: byte, context_length: 8}",
            "next byte guessed right"},
           {"{type: six_words}", "next token guessed right"},
           {"{type: sort, length: 4}", "tokens of the answer right"}}) {
    LoadedRun loaded = load_small(folder);
    loaded.task =
        load_run(parse_config("data: " + data + "\nmodel: {type: linear, d_in: 2, d_out: 2}\n",
                              (folder / "d.yaml").string()),
                 folder.path(), Purpose::model)
            .task;
    const auto model = make_layer(loaded.config.model);
    fs::create_directories(folder / "run");
    write_text(folder / "run/config.yaml", "seed: 1\n");
    RunReport report;
    report.on_begin({folder / "run", loaded, *model}, 5);
    report.on_end(5, true);
    CHECK(read_record(folder / "run/report.json").target == target);
  }
}

TEST_CASE("run report: what a model of pictures has read, and what it answers at each step") {
  if (!layout::has_extra("sequence_models")) return;
  const TempDir folder;
  const fs::path config = layout::root() / "train/extras/sequence_models/configs/digits.yaml";
  const LoadedRun loaded = load_run(
      read_run_tree(config, {"model.d_model=8", "model.num_heads=2", "model.num_layers=1"}),
      config.parent_path());
  const auto model = make_layer(loaded.config.model);
  fs::create_directories(folder / "run");
  write_text(folder / "run/config.yaml", "seed: 1\n");
  RunReport report;
  report.on_begin({folder / "run", loaded, *model}, 0);
  report.on_end(0, false);
  const ReportRecord record = read_record(folder / "run/report.json");
  REQUIRE(record.picture);
  CHECK(record.picture->pixels.size() == 64);
  CHECK(record.picture->side == 2);
  CHECK_FALSE(record.picture->class_token);
  const Array logits = (*model)(loaded.task->data().examples(Split::validation, {0}).input).value();
  CHECK(record.snapshots.at(0).answer == loaded.task->target_name(likeliest(logits.span())));
  CHECK(record.snapshots.at(0).maps.at(0).keys.size() == 16);
}

TEST_CASE("run report: a run that goes on keeps what was before its checkpoint, and no more") {
  const TempDir folder;
  CHECK(train(folder, "whole") == Ending::finished);
  copy_ended_after(8, folder / "whole", folder / "parts");
  fs::copy_file(folder / "whole/report.json", folder / "parts/report.json",
                fs::copy_options::overwrite_existing);
  Trainer goes_on(load_small(folder, more_of_everything), RunFolder::open(folder / "parts"),
                  folder / "parts/checkpoints/step-000008");
  CHECK(train_with_report(goes_on) == Ending::finished);
  CHECK(without_seconds(folder / "parts") == without_seconds(folder / "whole"));
}

TEST_CASE("run report: what cannot be written does not end the training") {
  const TempDir folder;
  CHECK(train(folder, "free") == Ending::finished);
  Trainer hindered(load_small(folder, more_of_everything),
                   RunFolder::create(folder / "hindered", ""));
  fs::create_directory(folder / "hindered/report.html");
  fs::create_directory(folder / "hindered/report.json");
  CHECK(train_with_report(hindered) == Ending::finished);
  CHECK(read_text(folder / "free/checkpoints/step-000012/model.safetensors") ==
        read_text(folder / "hindered/checkpoints/step-000012/model.safetensors"));
  CHECK(fs::is_directory(folder / "hindered/report.html"));
}

TEST_CASE("run report: a run that diverges leaves its curves") {
  const TempDir folder;
  Trainer trainer(load_small(folder, {"optimizer={type: sgd, lr: 1e200}", "train.log_every=1"}),
                  RunFolder::create(folder / "run", ""));
  CHECK_THROWS_AS(train_with_report(trainer), DivergedError);
  CHECK(read_text(folder / "run/report.html").find("\"rows\":[[1,") != std::string::npos);
  CHECK(snapshot_steps(folder / "run").front() == 0);
}

TEST_CASE("run report: trouble is told once") {
  const TempDir folder;
  LoadedRun loaded = load_small(folder);
  apply_settings(loaded.config);
  const auto model = make_layer(loaded.config.model);
  RunReport report;
  report.on_begin({folder / "nowhere", loaded, *model}, 0);
  CHECK(report.trouble().empty());
  report.on_end(0, false);
  CHECK(report.trouble().find("nowhere") != std::string::npos);
  report.on_end(0, false);
  CHECK(report.trouble().empty());
}

TEST_CASE("run report: a task without ids and with its own loss is trained, judged and shown") {
  const TempDir folder;
  register_echo_task();
  write_text(folder / "echo.yaml", R"(data: {type: echo}
model: {type: linear, d_in: 4, d_out: 4}
optimizer: {type: adamw, lr: 3e-2}
train: {steps: 60, batch_size: 4}
eval: {every: 30}
checkpoint: {best: true}
)");
  const auto load = [&] { return load_run(read_run_tree(folder / "echo.yaml"), folder.path()); };
  CHECK(make_plan(load()).warnings.empty());
  Trainer trainer(load(), RunFolder::create(folder / "run", ""));
  CHECK(train_with_report(trainer) == Ending::finished);
  const std::vector<MetricsRow> rows = read_metrics(folder / "run/metrics.csv");
  REQUIRE(rows.back().val_loss.has_value());
  CHECK(rows.front().loss.value() > 1);
  CHECK(*rows.back().val_loss > 0);  // as divided by the rows that the loss has counted
  CHECK(*rows.back().val_loss < 0.5);
  CHECK(trainer.state().best_step == 60);
  CHECK(read_text(folder / "run/log.txt").find("no report") == std::string::npos);
  CHECK(read_record(folder / "run/report.json").evaluations.size() == 2);
  CHECK(fs::exists(folder / "run/report.html"));
}
