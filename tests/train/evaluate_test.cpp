#include "train/evaluate.h"

#include "autograd/array/storage.h"
#include "autograd/graph/graph.h"
#include "autograd/ops/cross_entropy.h"
#include "autograd/random/streams.h"
#include "tests/support/near.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Example i starts with id i and has three targets; the last one is ignored if i is odd.
class Counted : public Task {
 public:
  explicit Counted(int64_t count) {
    data_ = std::make_unique<FixedExamples>(
        FixedExamples::Counts{0, count}, /*shuffle=*/false,
        [this](Split, const std::vector<int64_t>& which) { return batch_of(which); });
  }
  ModelSizes model_sizes() const override { return {}; }
  std::string description() const override { return ""; }
  mutable std::vector<int64_t> seen;

 protected:
  virtual bool ignored(int32_t example, int32_t t) const { return t == 2 && example % 2 == 1; }

 private:
  Batch batch_of(const std::vector<int64_t>& which) const {
    const auto count = static_cast<int64_t>(which.size());
    Ids x = Ids::uninitialised({count, 3}), y = Ids::uninitialised({count, 3});
    for (int64_t i = 0; i < count * 3; ++i) {
      const auto example = static_cast<int32_t>(which[static_cast<size_t>(i / 3)]);
      const auto t = static_cast<int32_t>(i % 3);
      x.mutable_data()[i] = (example + t) % 5;
      y.mutable_data()[i] = ignored(example, t) ? ignored_target : (example + t) % 5;
    }
    seen.insert(seen.end(), which.begin(), which.end());
    return {Input(std::move(x)), std::move(y)};
  }
};

// Every third example has no target that counts.
class ThirdsAreEmpty final : public Counted {
 public:
  using Counted::Counted;

 protected:
  bool ignored(int32_t example, int32_t) const override { return example % 3 == 0; }
};

// A row of five numbers for a whole sequence.
class OneRowEach final : public Module {
 public:
  Tensor forward(const Input& in) override { return Tensor(Array::zeros({in.ids.dim(0), 5})); }
};

class NothingCounts final : public Counted {
 public:
  using Counted::Counted;

 protected:
  bool ignored(int32_t, int32_t) const override { return true; }
};

// A loss of 6 a sequence, which counts 2 for each, whatever the targets are.
class OwnLoss final : public Counted {
 public:
  using Counted::Counted;
  BatchLoss loss(const Tensor& output, const Batch&) const override {
    const int64_t sequences = output.dim(0);
    return {Tensor(static_cast<real>(6 * sequences)), 2 * sequences};
  }
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
  CHECK(task.seen == first_examples(7));
  CHECK(all.tokens == 7 * 3 - 3);
  // Targets (example + t) % 5 == 4: examples 2 (t 2), 3 (t 1), 4 (t 0).
  CHECK(all.accuracy == doctest::Approx(15.0 / 18));
  CHECK(all.exact_match == doctest::Approx(4.0 / 7));
  const double right = std::log(std::exp(3.0) + 4) - 3, wrong = std::log(5.0);
  CHECK(all.loss == doctest::Approx((15 * right + 3 * wrong) / 18).epsilon(1e-6));
}

TEST_CASE("evaluate: some batches are spaced evenly over the whole set, too many are all") {
  const auto model = copying_model();
  const Counted task(20);
  evaluate(*model, task, Split::validation, 3, 2);
  CHECK(task.seen == std::vector<int64_t>{0, 3, 6, 10, 13, 16});
  task.seen.clear();
  evaluate(*model, task, Split::validation, 5, 3);  // more than half: the end is looked at, too
  CHECK(task.seen == std::vector<int64_t>{0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 16, 17, 18});
  for (const int64_t batches :
       {int64_t{7}, int64_t{100}, int64_t{1} << 62, std::numeric_limits<int64_t>::max()}) {
    CAPTURE(batches);
    task.seen.clear();
    CHECK(evaluate(*model, task, Split::validation, 4, batches).tokens == 50);
    CHECK(task.seen.size() == 20);
  }
}

TEST_CASE("evaluate: a number of examples does not depend on the batches, and may be stopped") {
  const auto model = copying_model();
  for (const int64_t batch_size : {1, 2, 5, 30}) {
    CAPTURE(batch_size);
    const Counted task(20);
    CHECK(evaluate_examples(*model, task, Split::validation, batch_size, 7).has_value());
    CHECK(task.seen == std::vector<int64_t>{0, 2, 5, 8, 11, 14, 17});
  }
  const Counted task(20);
  int asked = 0;
  const auto stop = [&] { return ++asked == 3; };
  CHECK(!evaluate_examples(*model, task, Split::validation, 2, 20, one_worker(), stop).has_value());
  CHECK(task.seen.size() == 4);
}

TEST_CASE("evaluate: what a task's own loss counts divides it") {
  const Evaluation own = evaluate(*copying_model(), OwnLoss(7), Split::validation, 3, {});
  CHECK(own.loss == doctest::Approx(3));
  CHECK(own.tokens == 14);
  CHECK(own.accuracy == doctest::Approx(15.0 / 18));
}

TEST_CASE("evaluate: a sequence without targets is neither right nor wrong") {
  const Evaluation some = evaluate(*copying_model(), ThirdsAreEmpty(7), Split::validation, 3, {});
  // Examples 1, 2, 4 and 5; only 1 and 5 have no target 4.
  CHECK(some.exact_match == doctest::Approx(2.0 / 4));
  CHECK(some.by_length.size() == 1);
  CHECK_THROWS_WITH_AS(evaluate(*copying_model(), NothingCounts(7), Split::validation, 3, {}),
                       "evaluate: the loss counts no target in 7 validation examples", ConfigError);
}

TEST_CASE("evaluate: outputs that do not fit the targets need a score() of their own") {
  OneRowEach model;
  CHECK_THROWS_WITH_AS(evaluate(model, OwnLoss(7), Split::validation, 7, {}),
                       "score: expected a row of outputs for each of the targets (7, 3), got "
                       "(7, 5); a task with other outputs overrides score()",
                       ShapeError);
}

TEST_CASE("evaluate: no examples are a mistake of the config") {
  const auto model = copying_model();
  CHECK_THROWS_WITH_AS(evaluate(*model, Counted(7), Split::train, 3, {}),
                       doctest::Contains("the data has no training part (data.train_fraction): "),
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

TEST_CASE("evaluate: large logits are made for fewer examples at a time, with the same loss") {
  const TempDir folder;
  const LoadedRun run = load_small(
      folder, {"data={type: synthetic, vocab_size: 5000, tokens: 70000}",
               "model={type: gpt, context_length: 64, d_model: 4, num_heads: 1, num_layers: 1}"});
  const auto model = make_layer(run.config.model);
  const auto peak_of = [&](const auto& f) {
    pool::reset_peak();
    const int64_t before = pool::stats().live_bytes;
    f();
    return pool::stats().peak_bytes - before;
  };
  const int64_t logits = int64_t{64} * 64 * 5000 * static_cast<int64_t>(sizeof(real));
  Evaluation found;
  CHECK(peak_of([&] { found = evaluate(*model, *run.task, Split::validation, 64, 1); }) <
        logits * 9 / 10);
  REQUIRE(found.tokens == 64 * 64);
  double sum = 0;
  const NoGrad off;
  for (int64_t i = 0; i < 64; ++i) {
    const int64_t at = i * (run.task->data().example_count(Split::validation) / 64) +
                       i * (run.task->data().example_count(Split::validation) % 64) / 64;
    const Batch one = run.task->data().examples(Split::validation, {at});
    sum += static_cast<double>(run.task->loss((*model)(one.input), one).sum.item());
  }
  CHECK(found.loss == doctest::Approx(sum / (64 * 64)).epsilon(1e-6));
}
