// The sum of the gradients of a step, by shards, in one process. That of several:
// train/extras/processes/tests/.
#include "train/optim/gradient_sum.h"

#include <doctest/doctest.h>

#include "autograd/random/streams.h"
#include "tests/support/near.h"
#include "tests/support/training_run.h"
#include "train/step.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::vector<NamedParameter> two_parameters() {
  return {{"a", Tensor::parameter(Array::zeros({2}))}, {"b", Tensor::parameter(Array::zeros({1}))}};
}

}  // namespace

TEST_CASE("shards: sums are added in the order of the shards") {
  const std::vector<NamedParameter> parameters = two_parameters();
  GradientSum sum(parameters, 3, 3);
  // In this order 3 of the 4 is lost to rounding in both precisions; the sum is 0, not 4.
  const auto large = static_cast<real>(is_float64 ? 1e30 : 1e20);
  const std::vector<real> shards{4, large, -large};
  for (const real value : shards) {
    Tensor a = parameters[0].tensor;
    a.set_grad(Array::from({2}, {value, 1}));
    sum.add({.loss = value, .targets = 3});
    CHECK(!parameters[0].tensor.grad());
  }
  const LossSum loss = sum.total();
  CHECK(loss.loss == static_cast<double>(shards[0]) + shards[1] + shards[2]);
  CHECK(loss.targets == 9);
  check_same_bits(parameters[0].tensor.grad(), Array::from({2}, {0, 3}));
  CHECK(!parameters[1].tensor.grad());  // had none in any shard
}

TEST_CASE("shards: a parameter without a gradient in one shard counts as zeros there") {
  const std::vector<NamedParameter> parameters = two_parameters();
  GradientSum sum(parameters, 2, 2);
  sum.add({});
  Tensor b = parameters[1].tensor;
  b.set_grad(Array::from({1}, {5}));
  sum.add({});
  sum.total();
  CHECK(!parameters[0].tensor.grad());
  check_same_bits(parameters[1].tensor.grad(), Array::from({1}, {5}));
}

TEST_CASE("shards: gradients of one shard stay where they are; its micro-batches are one sum") {
  const std::vector<NamedParameter> parameters = two_parameters();
  GradientSum one(parameters, 2, 1), two(parameters, 4, 2);
  Tensor a = parameters[0].tensor;
  const Array g = Array::from({2}, {1, 2});
  a.set_grad(g);
  const Array before = a.grad();
  for (const double loss : {1.0, 2.0}) one.add({.loss = loss, .targets = 1});
  CHECK(a.grad().data() == before.data());
  CHECK(one.total().loss == 3);
  CHECK(a.grad().data() == before.data());
  two.add({});
  CHECK(a.grad());
  two.add({});  // the shard is complete
  CHECK(!a.grad());
}

TEST_CASE("shards: the targets of a step are estimated from its first micro-batch") {
  const std::vector<NamedParameter> parameters = two_parameters();
  GradientSum sum(parameters, 4, 2);
  CHECK(sum.scale(8).data()[0] == static_cast<real>(1.0 / 32));
  CHECK(sum.scale(5).data()[0] == static_cast<real>(1.0 / 32));
  CHECK(sum.expected_targets() == 32);
  GradientSum nothing(parameters, 4, 2);  // no target counts
  nothing.scale(0);
  CHECK(nothing.expected_targets() == 4);
}

TEST_CASE("shards: the same batches and masks for any number; only the order of the sums differs") {
  const TempDir folder;
  for (const char* stream : {"mcg31", "mt19937"}) {
    for (const char* generators : {"separate", "single"}) {
      std::vector<std::vector<Array>> results;
      std::vector<StepResult> last;
      std::vector<StreamsState> states;
      for (const int64_t shards : {1, 2, 4}) {
        Stepping run(folder, "--dropout");
        manual_seed(5, generators_from(generators), dropout_stream_from(stream));
        TrainConfig config;
        config.batch_size = 2;
        config.accumulate = 4;
        OneOfShards workers(shards);
        StepResult result;
        for (int i = 0; i < 3; ++i) {
          result = train_step(*run.model, *run.loaded.task, *run.optimizer, config, 1e-3, nullptr,
                              workers);
        }
        results.push_back(weights(*run.model));
        last.push_back(result);
        states.push_back(streams().state());
      }
      int64_t compared = 0;
      for (const size_t k : {1u, 2u}) {
        CHECK(states[k] == states[0]);
        CHECK(last[k].tokens == last[0].tokens);
        CHECK(last[k].loss == doctest::Approx(last[0].loss).epsilon(1e-6));
        CHECK(last[k].grad_norm == doctest::Approx(last[0].grad_norm).epsilon(1e-6));
        for (size_t p = 0; p < results[0].size(); ++p) {
          compared += check_near(results[k][p], results[0][p], 1e-5);
        }
      }
      CHECK(compared > 4000);
    }
  }
}
