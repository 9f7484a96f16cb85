#include "train/evaluate.h"

#include "autograd/graph/graph.h"
#include "autograd/ops/cross_entropy.h"
#include "autograd/random/streams.h"
#include "tests/support/near.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Example i starts with id i and has three targets; the last one is ignored if i is odd.
class Counted final : public Task {
 public:
  explicit Counted(int64_t count) : count_(count) {}
  Batch next(int64_t, Generator&) override { return {}; }
  std::vector<std::pair<std::string, int64_t>> model_sizes() const override { return {}; }
  int64_t example_count(Split split) const override { return split == Split::train ? 0 : count_; }
  Batch examples(Split, int64_t first, int64_t stride, int64_t count) const override {
    Ids x = Ids::uninitialised({count, 3}), y = Ids::uninitialised({count, 3});
    for (int64_t i = 0; i < count; ++i) {
      const auto example = static_cast<int32_t>(first + i * stride);
      seen.push_back(example);
      for (int32_t t = 0; t < 3; ++t) {
        x.mutable_data()[i * 3 + t] = (example + t) % 5;
        y.mutable_data()[i * 3 + t] =
            t == 2 && example % 2 == 1 ? ignored_target : (example + t) % 5;
      }
    }
    return {Input(std::move(x)), std::move(y)};
  }
  int64_t training_tokens() const override { return 0; }
  std::string description() const override { return ""; }
  mutable std::vector<int32_t> seen;

 private:
  int64_t count_;
};

// Predicts that every token is followed by itself, except for token 4.
std::unique_ptr<Module> copying_model() {
  auto model = make_layer("embedding", ConfigNode::map({{"vocab_size", 5}, {"d_model", 5}}));
  Tensor weight = model->parameters()[0].tensor;
  const NoGrad off;
  for (int64_t i = 0; i < 25; ++i) {
    weight.mutable_value()[i] = i % 6 == 0 && i != 24 ? real{3} : real{0};
  }
  return model;
}

}  // namespace

TEST_CASE("evaluate: loss, accuracy and exact match count only what counts") {
  const auto model = copying_model();
  const Counted task(7);
  const Evaluation all = evaluate(*model, task, Split::validation, 3, {});
  CHECK(task.seen == std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6});
  CHECK(all.tokens == 7 * 3 - 3);
  // Targets (example + t) % 5 == 4: examples 2 (t 2), 3 (t 1), 4 (t 0).
  CHECK(all.accuracy == doctest::Approx(15.0 / 18));
  CHECK(all.exact_match == doctest::Approx(4.0 / 7));
  const double right = std::log(std::exp(3.0) + 4) - 3, wrong = std::log(5.0);
  CHECK(all.loss == doctest::Approx((15 * right + 3 * wrong) / 18).epsilon(1e-6));
}

TEST_CASE("evaluate: some batches are spaced evenly, too many are all") {
  const auto model = copying_model();
  const Counted task(20);
  evaluate(*model, task, Split::validation, 3, 2);
  CHECK(task.seen == std::vector<int32_t>{0, 3, 6, 9, 12, 15});
  task.seen.clear();
  CHECK(evaluate(*model, task, Split::validation, 3, 100).tokens == 50);
  CHECK(task.seen.size() == 20);
}

TEST_CASE("evaluate: no examples are a mistake of the config") {
  const auto model = copying_model();
  CHECK_THROWS_WITH_AS(evaluate(*model, Counted(7), Split::train, 3, {}),
                       "evaluate: the data has no training part (data.train_fraction)",
                       ConfigError);
}

TEST_CASE("evaluate: streams, mode and graph are left alone, batches do not matter") {
  const TempDir folder;
  Stepping run(folder, "--dropout");
  const StreamsState before = streams().state();
  const int64_t nodes = live_nodes();
  const Evaluation ones = evaluate(*run.model, *run.loaded.task, Split::validation, 1, {});
  const Evaluation fives = evaluate(*run.model, *run.loaded.task, Split::validation, 5, {});
  CHECK(streams().state() == before);
  CHECK(live_nodes() == nodes);
  CHECK(run.model->training());
  CHECK(ones.tokens == fives.tokens);
  CHECK(ones.tokens > 300);
  CHECK(ones.loss == doctest::Approx(fives.loss).epsilon(1e-6));
}
