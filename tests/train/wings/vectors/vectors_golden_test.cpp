// 30 steps of SGD on vectors compared with PyTorch's, which are in tests/golden/vectors (made by
// tools/reference/vectors_golden.py).
#include <nlohmann/json.hpp>

#include "tests/support/near.h"
#include "tests/support/training_run.h"
#include "train/step.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

const fs::path vector_cases = fs::path(HEED_SOURCE_DIR) / "tests/golden/vectors";

std::vector<double> losses_of(const nlohmann::json& golden) {
  const LoadedRun run = load_run(parse_config(golden["config"], "vectors.yaml"), vector_cases);
  apply_settings(run.config);
  const auto model = make_layer(run.config.model);
  const auto optimizer = optimizer_registry().make(run.config.optimizer, model->parameters());
  model->train();
  std::vector<double> losses;
  for (int64_t step = 1; step <= run.config.train.steps; ++step) {
    losses.push_back(
        train_step(*model, *run.task, *optimizer, run.config.train, optimizer->base_lr()).loss);
  }
  return losses;
}

}  // namespace

TEST_CASE("vectors: 30 steps of SGD follow PyTorch's") {
  int compared = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(vector_cases)) {
    if (entry.path().extension() != ".json") continue;
    const auto golden = nlohmann::json::parse(read_text(entry.path()));
    const std::vector<double> got = losses_of(golden);
    const std::vector<double> want = golden[is_float64 ? "float64" : "float32"];
    REQUIRE(want.size() == 30);
    REQUIRE(got.size() == want.size());
    for (size_t i = 0; i < want.size(); ++i, ++compared) {
      CHECK_MESSAGE(std::abs(got[i] - want[i]) <= (is_float64 ? 1e-11 : 1e-5),
                    entry.path().stem().string(), ", step ", i + 1, ": ", got[i], ", PyTorch ",
                    want[i]);
    }
  }
  CHECK(compared == 4 * 30);
}
