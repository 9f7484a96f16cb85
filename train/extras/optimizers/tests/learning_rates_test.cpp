#include "train/extras/optimizers/learning_rates.h"

#include "tests/support/near.h"
#include "tests/support/training_run.h"
#include "train/step.h"

using namespace heed;
using namespace heed::testing;

namespace {

// What one step of plain gradient descent changes in each parameter, by name.
std::map<std::string, Array> changes_with(const TempDir& folder, const std::string& rates) {
  const LoadedRun run = load_small(
      folder, {"optimizer={type: sgd, lr: 1" + rates + "}", "model.tie_embeddings=true"});
  apply_settings(run.config);
  const auto model = make_model(run);
  const std::vector<Array> before = weights(*model);
  const auto optimizer =
      optimizer_registry().make(run.config.optimizer, trained_parameters(*model));
  train_step(*model, *run.task, *optimizer, run.config.train, optimizer->base_lr());
  std::map<std::string, Array> changes;
  size_t k = 0;
  for (const NamedParameter& each : model->parameters()) {
    Array change = each.tensor.value().clone();
    for (int64_t i = 0; i < change.size(); ++i) {
      change.mutable_data()[i] -= before[k].data()[i];
    }
    changes[each.name] = change;
    ++k;
  }
  return changes;
}

Array multiplied(Array a, real factor) {
  for (int64_t i = 0; i < a.size(); ++i) a.mutable_data()[i] *= factor;
  return a;
}

}  // namespace

TEST_CASE("rates: each parameter has the factor of the last pattern that fits, a tied one too") {
  const TempDir folder;
  const auto plain = changes_with(folder, "");
  const auto rated = changes_with(
      folder, R"(, rates: {"*.weight": 0.5, "trf_blocks.0.att.*": 0.25, "out_head.*": 0})");
  int64_t halves = 0, quarters = 0, others = 0, none = 0;
  for (const auto& each : plain) {
    const std::string& name = each.first;
    const Array& change = each.second;
    CAPTURE(name);
    const bool tied = name == "tok_emb.weight", attention = name.starts_with("trf_blocks.0.att.");
    const double factor = tied ? 0 : attention ? 0.25 : name.ends_with(".weight") ? 0.5 : 1;
    (factor == 0 ? none : factor == 0.25 ? quarters : factor == 0.5 ? halves : others) += 1;
    check_near(rated.at(name), multiplied(change.clone(), static_cast<real>(factor)), 1e-6);
  }
  CHECK(none == 1);
  CHECK(quarters == 5);
  CHECK(halves == 3);
  CHECK(others > 4);
}

TEST_CASE("rates: a model that is only asked has none to check") {
  const TempDir folder;
  LoadedRun run = load_small(folder, {R"(optimizer.rates={"tok_embb.*": 0.5})"});
  CHECK(error_of([&] { make_model(run); }).find("optimizer.rates.tok_embb.*: no parameter is ") !=
        std::string::npos);
  run.config.purpose = Purpose::ask;
  CHECK(make_model(run) != nullptr);
}
