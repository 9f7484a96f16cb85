// What the trainer asks of workers: the answers of a process alone, and workers of one's own. Of
// several processes: train/extras/processes/tests.
#include "train/workers.h"

#include <doctest/doctest.h>

#include "tests/support/near.h"
#include "tests/support/training_run.h"
#include "train/trainer.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

// Two members that this process plays in turn: each computes one of two shards and half of every
// evaluation, and adds it to what the one before has left here.
struct Blackboard {
  LossSum loss;
  std::vector<Array> gradients;
  Tally tally;
};

class HalfSum final : public GradientSum {
 public:
  HalfSum(const std::vector<NamedParameter>& parameters, int64_t accumulate, int64_t shards,
          bool second, Blackboard& board)
      : GradientSum(parameters, accumulate, shards), second_(second), board_(board) {
    board_.gradients.resize(parameters.size());
  }

  bool begin(int64_t micro_batch, Module&, const Batch&) override {
    return (micro_batch >= accumulate_ / 2) == second_;
  }

  LossSum total() override {
    board_.loss += GradientSum::total();
    for (size_t p = 0; p < parameters_.size(); ++p) {
      take(p, board_.gradients[p]);
      Tensor parameter = parameters_[p].tensor;
      if (second_) parameter.set_grad(board_.gradients[p]);
    }
    return board_.loss;
  }

 private:
  const bool second_;
  Blackboard& board_;
};

class HalfOfWorkers final : public Workers {
 public:
  HalfOfWorkers(bool second, Blackboard& board) : second_(second), board_(board) {}

  int size() const override { return 2; }
  int rank() const override { return second_ ? 1 : 0; }
  std::unique_ptr<GradientSum> gradient_sum(const std::vector<NamedParameter>& parameters,
                                            const TrainConfig& config) override {
    return std::make_unique<HalfSum>(parameters, config.accumulate, 2, second_, board_);
  }
  Tally total(Tally own) override {
    Tally& all = board_.tally;
    all.losses.insert(all.losses.end(), own.losses.begin(), own.losses.end());
    all.counted += own.counted;
    all.bytes += own.bytes;
    return all;
  }

 private:
  const bool second_;
  Blackboard& board_;
};

// Answers like a process alone, and notes what was asked.
class Noted final : public Workers {
 public:
  static constexpr const char* help = "";
  using Config = NoFields;
  explicit Noted(const Config& = {}) {}

  std::vector<std::string> gather(const std::string& own) override {
    return note("gather"), Workers::gather(own);
  }
  std::unique_ptr<GradientSum> gradient_sum(const std::vector<NamedParameter>& parameters,
                                            const TrainConfig& config) override {
    return note("gradient_sum"), Workers::gradient_sum(parameters, config);
  }
  Tally total(Tally own) override { return note("total"), own; }

  mutable std::map<std::string, int> asked;

 private:
  void note(const char* question) const { ++asked[question]; }
};

template <int number>
class Launched : public Workers {
 public:
  static constexpr const char* help = "";
  using Config = NoFields;
  explicit Launched(const Config&) {}

  bool launched() const override { return true; }
  int size() const override { return number; }
};

}  // namespace

TEST_CASE("workers: a process alone") {
  Workers& workers = one_worker();
  CHECK(!workers.launched());
  CHECK(workers.size() == 1);
  CHECK(workers.leads());
  workers.join("heed train");
  const TempDir folder;
  const Placement known = workers.compare(load_small(folder));
  CHECK(known.plan_lines.empty());
  CHECK(known.on_this_host == 1);
  CHECK(workers.agree(7) == 7);
  CHECK(workers.agree(std::string("a\0b", 3)) == std::string("a\0b", 3));
  CHECK(workers.gather("own") == std::vector<std::string>{"own"});
  const Part all = workers.share_of(5);
  CHECK(all.begin == 0);
  CHECK(all.end == 5);
  CHECK(workers.total({.losses = {1, 2}, .counted = 3}).loss() == 3);
  CHECK(workers.gradient_copies({}) == 1);
}

TEST_CASE("workers: two members, each of which computes half of an evaluation") {
  const TempDir folder;
  const LoadedRun run = load_small(folder);
  const std::unique_ptr<Module> model = make_layer(run.config.model);
  const Evaluation whole = evaluate(*model, *run.task, Split::validation, 4, 6);
  Blackboard board;
  HalfOfWorkers first(false, board), second(true, board);
  const Evaluation half = evaluate(*model, *run.task, Split::validation, 4, 6, first);
  const Evaluation both = evaluate(*model, *run.task, Split::validation, 4, 6, second);
  CHECK(half.tokens == whole.tokens / 2);
  CHECK(both.tokens == whole.tokens);
  CHECK(both.loss == whole.loss);
  CHECK(both.bits_per_byte == whole.bits_per_byte);
}

TEST_CASE("workers: two members, each of which computes half of a step: the bits of one") {
  const TempDir folder;
  TrainConfig config;
  config.batch_size = 2;
  config.accumulate = 4;
  const auto step = [&](Stepping& run, Workers& workers) {
    return train_step(*run.model, *run.loaded.task, *run.optimizer, config, 1e-2, nullptr, workers);
  };
  Stepping plain(folder, "");
  OneOfShards shards(2);
  const StepResult whole = step(plain, shards);
  Blackboard board;
  HalfOfWorkers first(false, board), second(true, board);
  Stepping one(folder, "");
  CHECK(step(one, first).tokens == whole.tokens / 2);
  Stepping other(folder, "");
  const StepResult both = step(other, second);
  CHECK(both.tokens == whole.tokens);
  CHECK(both.loss == whole.loss);
  CHECK(both.grad_norm == whole.grad_norm);
  const std::vector<Array> expected = weights(*plain.model), got = weights(*other.model);
  REQUIRE(got.size() == expected.size());
  for (size_t p = 0; p < got.size(); ++p) check_same_bits(got[p], expected[p]);
}

TEST_CASE("workers: what a run asks, and when") {
  const TempDir folder;
  Noted workers;
  Trainer trainer(load_small(folder, {"train.accumulate=2", "eval.every=6", "checkpoint.every=4"}),
                  RunFolder::create(folder / "run", ""), {}, workers);
  CHECK(trainer.train() == Ending::finished);  // after 12 steps
  CHECK(workers.asked["gradient_sum"] == 12);
  CHECK(workers.asked["gather"] == 12 + 2 * 16);  // on the end; before each batch of an evaluation
  CHECK(workers.asked["total"] == 2);
}

TEST_CASE("workers: the one whose launcher has started the process is taken") {
  WorkersRegistry none("workers of none"), one("workers of one"), two("workers of two");
  none.add<Noted>("noted");
  CHECK(launched_workers(none)->size() == 1);
  one.add<Noted>("noted");
  one.add<Launched<3>>("three");
  CHECK(launched_workers(one)->size() == 3);
  two.add<Launched<3>>("three");
  two.add<Launched<4>>("four");
  CHECK(error_of([&] { launched_workers(two); }) ==
        "the environment says that this process is a worker of \"four\" and one of "
        "\"three\"; start heed by one launcher");
}
