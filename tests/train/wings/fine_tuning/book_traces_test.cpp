// 30 steps of chapter 6 and appendix E of the book compared with PyTorch's, which are in
// tests/golden/fine_tuning (made by tools/reference/fine_tuning_golden.py).
#include <nlohmann/json.hpp>

#include "tests/support/near.h"
#include "tests/support/training_run.h"
#include "train/config/model_start.h"
#include "train/step.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

const fs::path book_loops = fs::path(HEED_SOURCE_DIR) / "tests/golden/fine_tuning";

std::vector<double> book_losses(const nlohmann::json& golden) {
  const LoadedRun run = load_run(parse_config(golden["config"], "book.yaml"), book_loops);
  apply_settings(run.config);
  const auto model = make_model(run);
  const auto optimizer = optimizer_registry().make(
      run.config.optimizer, parameters_to_train(*model, run.config.train, alone()));
  model->train();
  std::vector<double> losses;
  for (int64_t step = 1; step <= run.config.train.steps; ++step) {
    losses.push_back(
        train_step(*model, *run.task, *optimizer, run.config.train, optimizer->base_lr()).loss);
  }
  return losses;
}

}  // namespace

TEST_CASE("book: 30 steps of chapter 6 and appendix E follow PyTorch's") {
  int compared = 0;
  for (const std::string name :
       {"chapter_6", "chapter_6_dropout", "appendix_e", "appendix_e_dropout"}) {
    const auto golden = nlohmann::json::parse(read_text(book_loops / (name + ".json")));
    const std::vector<double> got = book_losses(golden);
    const std::vector<double> want = golden[is_float64 ? "float64" : "float32"];
    REQUIRE(want.size() == 30);
    REQUIRE(got.size() == want.size());
    for (size_t i = 0; i < want.size(); ++i, ++compared) {
      CHECK_MESSAGE(std::abs(got[i] - want[i]) <= (is_float64 ? 1e-9 : 1e-4), name, ", step ",
                    i + 1, ": ", got[i], ", PyTorch ", want[i]);
    }
  }
  CHECK(compared == 4 * 30);
}
