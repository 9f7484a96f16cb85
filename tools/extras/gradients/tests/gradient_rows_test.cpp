// gradients.csv: against PyTorch's numbers over 30 steps, which are in tests/golden/gradients (made
// by tools/reference/gradients_golden.py), and that it changes nothing and survives an interrupt.
#include "tools/extras/gradients/run/gradient_rows.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/errors.h"
#include "tests/support/layer_cases.h"
#include "tests/support/source_tree.h"
#include "tests/support/training_run.h"
#include "train/trainer.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

struct GradientCsvRow {
  int64_t step = 0;
  std::string parameter;
  std::vector<double> norms;
};

std::vector<GradientCsvRow> gradient_rows_in(const fs::path& run) {
  std::istringstream lines(read_text(run / "gradients.csv"));
  std::string line;
  std::getline(lines, line);
  CHECK(line == "step,parameter,grad_norm,weight_norm,update_norm");
  std::vector<GradientCsvRow> rows;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string word;
    GradientCsvRow& row = rows.emplace_back();
    std::getline(words, word, ',');
    row.step = std::stoll(word);
    std::getline(words, row.parameter, ',');
    while (std::getline(words, word, ',')) row.norms.push_back(std::stod(word));
  }
  return rows;
}

// The rows with all of their digits.
class KeptRows final : public GradientRows {
 public:
  std::vector<GradientRow> rows;

 private:
  void add(int64_t, const std::vector<GradientRow>& of) override {
    rows.insert(rows.end(), of.begin(), of.end());
  }
};

Ending train_with_rows(LoadedRun loaded, const fs::path& run,
                       const std::optional<fs::path>& checkpoint = {}, KeptRows* kept = nullptr) {
  GradientFile rows;
  Trainer trainer(std::move(loaded), checkpoint ? RunFolder::open(run) : RunFolder::create(run, ""),
                  checkpoint);
  trainer.add_hooks(rows);
  if (kept != nullptr) trainer.add_hooks(*kept);
  const Ending ending = trainer.train();
  CHECK(rows.trouble().empty());
  return ending;
}

const std::vector<std::string> asking_for_rows = {"eval={every: 4, batches: 1, gradients: true}",
                                                  "checkpoint={every: 4, keep: 9}",
                                                  "model.dropout=0.1", "train.clip_grad_norm=0.5"};

}  // namespace

TEST_CASE("gradient rows: PyTorch's over 30 steps") {
  const fs::path folder = fs::path(HEED_SOURCE_DIR) / "tests/golden/gradients";
  const nlohmann::json golden = nlohmann::json::parse(read_text(folder / "rows.json"));
  const double tolerance = is_float64 ? 1e-9 : 1e-5;
  int64_t compared = 0;
  for (const nlohmann::json& of : golden["runs"]) {
    const TempDir runs;
    std::string config = of["config"].get<std::string>();
    if (config.find("own_data/") != std::string::npos && !layout::has_extra("own_data")) continue;
    if (config.find("encoder_") != std::string::npos && !is_built("encoder_decoder")) continue;
    CAPTURE(config);
    config += std::string("precision: ") + precision_name + "\n";
    KeptRows kept;
    train_with_rows(load_run(parse_config(config, "rows.yaml"), folder), runs / "run", {}, &kept);
    const std::vector<GradientCsvRow> rows = gradient_rows_in(runs / "run");
    REQUIRE(rows.size() == of["rows"].size());
    REQUIRE(kept.rows.size() == rows.size());
    const size_t parameters = of["parameters"].size();
    for (size_t i = 0; i < rows.size(); ++i) {
      CAPTURE(i);
      CHECK(rows[i].step == of["steps"][i / parameters].get<int64_t>());
      CHECK(rows[i].parameter == of["parameters"][i % parameters].get<std::string>());
      const GradientRow& exact = kept.rows[i];
      const double norms[] = {exact.grad_norm, exact.weight_norm, exact.update_norm};
      for (size_t k = 0; k < 3; ++k) {
        const double want = of["rows"][i][k].get<double>();
        // An update is the difference of two weights, each of them rounded.
        const double rounded = k == 2 ? (is_float64 ? 1e-15 : 1e-7) * norms[1] : 0;
        CHECK(std::abs(norms[k] - want) <= tolerance * want + rounded);
        CHECK(std::abs(rows[i].norms.at(k) - norms[k]) <= 1e-8 * norms[k]);  // it has nine digits
        ++compared;
      }
    }
  }
  CHECK(compared > 500);
}

TEST_CASE("gradient rows: add up to grad_norm of the step, and change nothing of the run") {
  const TempDir folder;
  CHECK(train_with_rows(load_small(folder, asking_for_rows), folder / "with") == Ending::finished);
  std::vector<std::string> without = asking_for_rows;
  without.front() = "eval={every: 4, batches: 1}";
  Trainer(load_small(folder, without), RunFolder::create(folder / "without", "")).train();
  for (const char* file : {"model", "optimizer", "state"}) {
    const std::string name = std::string("checkpoints/step-000012/") + file + ".safetensors";
    CHECK(read_text(folder / "with" / name) == read_text(folder / "without" / name));
  }
  std::map<int64_t, double> squares;
  for (const GradientCsvRow& row : gradient_rows_in(folder / "with")) {
    squares[row.step] += row.norms[0] * row.norms[0];
    CHECK(row.norms[2] > 0);
  }
  int64_t compared = 0;
  for (const MetricsRow& row : read_metrics(folder / "with/metrics.csv")) {
    if (!row.grad_norm || !squares.contains(row.step)) continue;
    CHECK(std::sqrt(squares[row.step]) == doctest::Approx(*row.grad_norm).epsilon(1e-5));
    ++compared;
  }
  CHECK(compared == 3);
}

TEST_CASE("gradient rows: a run that is resumed has the rows of one that was not interrupted") {
  const TempDir folder;
  train_with_rows(load_small(folder, asking_for_rows), folder / "whole");
  train_with_rows(load_small(folder, asking_for_rows), folder / "run");
  fs::remove_all(folder / "run/checkpoints/step-000012");
  fs::remove_all(folder / "run/checkpoints/step-000008");
  write_text(folder / "run/gradients.csv",
             read_text(folder / "run/gradients.csv") + "12,half a li");
  train_with_rows(load_small(folder, asking_for_rows), folder / "run",
                  folder / "run/checkpoints/step-000004");
  CHECK(read_text(folder / "run/gradients.csv") == read_text(folder / "whole/gradients.csv"));
}

TEST_CASE("gradient rows: a config that asks for them needs evaluations") {
  const TempDir folder;
  CHECK(message_of<ConfigError>([&] {
          load_small(folder, {"eval={gradients: true}"});
        }).ends_with("eval.gradients: true without eval.every is never seen; give eval.every too"));
  CHECK(!fs::exists(folder / "run/gradients.csv"));
}
