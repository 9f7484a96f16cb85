// Optimizer state spread over processes. Whole runs: tests/train/wings/processes/mpi_test.sh.
#include "train/wings/processes/optimizer_shards.h"

#include <doctest/doctest.h>

#include "tests/support/near.h"
#include "tests/support/training_run.h"
#include "tests/train/wings/processes/thread_ranks.h"
#include "train/plan.h"
#include "train/wings/processes/process_crew.h"

using namespace heed;
using namespace heed::testing;

namespace {

constexpr int steps = 3;

std::vector<NamedParameter> four_parameters() {
  std::vector<NamedParameter> parameters;
  for (const auto& [name, shape] : std::vector<std::pair<std::string, Shape>>{
           {"a", {2}}, {"b", {5, 3}}, {"c", {4, 4}}, {"d", {3}}}) {
    parameters.push_back({name, Tensor::parameter(values(shape, -1, 1, 7))});
  }
  return parameters;
}

// Weights and the state of the optimizer after some steps, on rank 0.
std::vector<Array> trained(const std::string& type, const ConfigNode& options, int processes) {
  std::vector<Array> result;
  run_ranks(processes, [&](Communicator& ranks) {
    std::vector<NamedParameter> parameters = four_parameters();
    const auto optimizer = optimizer_registry().make(type, options, with_owners(parameters, ranks));
    for (int step = 1; step <= steps; ++step) {
      for (size_t k = 0; k < parameters.size(); ++k) {
        const auto seed = static_cast<uint64_t>(step) * 10 + k;
        Tensor& parameter = parameters[k].tensor;
        parameter.set_grad(values(parameter.shape(), -1, 1, seed));
      }
      optimizer->step(0.1, 0.5);
      share_weights(optimizer->parameters(), ranks);
    }
    const WholeState whole(*optimizer, ranks);
    if (ranks.rank() > 0) {
      return;
    }
    for (const NamedParameter& parameter : parameters) {
      result.push_back(parameter.tensor.value().clone());
    }
    for (const auto& [kind, arrays] : optimizer->state()) {
      for (const Array& array : *arrays) result.push_back(array.clone());
    }
  });
  return result;
}

}  // namespace

TEST_CASE("optimizer shards: the largest parameters first, each to the rank that has the least") {
  const std::vector<NamedParameter> parameters = four_parameters();  // 2, 15, 16 and 3 elements
  CHECK(owners(parameters, 1) == std::vector<int>{0, 0, 0, 0});
  CHECK(owners(parameters, 2) == std::vector<int>{0, 1, 0, 1});
  CHECK(owners(parameters, 3) == std::vector<int>{2, 1, 0, 2});
  CHECK(owners(parameters, 6) == std::vector<int>{3, 1, 0, 2});
}

TEST_CASE("optimizer shards: the bits of a single process, for every optimizer") {
  const ConfigNode momentum = ConfigNode::map({{"momentum", 0.9}});
  int64_t compared = 0;
  const std::vector<std::pair<std::string, ConfigNode>> optimizers{{"sgd", ConfigNode::map({})},
                                                                   {"sgd", momentum},
                                                                   {"adam", ConfigNode::map({})},
                                                                   {"adamw", ConfigNode::map({})}};
  for (const auto& optimizer : optimizers) {
    const std::string& type = optimizer.first;
    const ConfigNode& options = optimizer.second;
    CAPTURE(type);
    const std::vector<Array> alone = trained(type, options, 1);
    for (const int processes : {2, 3, 6}) {
      const std::vector<Array> several = trained(type, options, processes);
      REQUIRE(several.size() == alone.size());
      for (size_t k = 0; k < alone.size(); ++k) {
        check_same_bits(several[k], alone[k]);
        ++compared;
      }
    }
  }
  CHECK(compared == 3 * 4 * (1 + 2 + 3 + 3));
}

TEST_CASE("optimizer shards: state only for the owner's parameters; lent to a checkpoint") {
  run_ranks(2, [&](Communicator& ranks) {
    ProcessCrew crew(ranks);
    const auto optimizer = optimizer_registry().make("adamw", ConfigNode::map({}),
                                                     crew.divide_updates(four_parameters()));
    const std::vector<int> owner = owners(optimizer->parameters(), 2);
    const std::vector<Array>& mean = *optimizer->state()[0].second;
    const auto own = [&](size_t k) { return owner[k] == ranks.rank(); };
    for (size_t k = 0; k < 4; ++k) CHECK(static_cast<bool>(mean[k]) == own(k));
    {
      const std::shared_ptr<void> whole = crew.whole_state(*optimizer);
      for (size_t k = 0; k < 4; ++k) {
        CHECK(static_cast<bool>(mean[k]) == (own(k) || ranks.rank() == 0));
      }
    }
    for (size_t k = 0; k < 4; ++k) CHECK(static_cast<bool>(mean[k]) == own(k));
  });
}

TEST_CASE("optimizer shards: the plan counts the state of one process") {
  const TempDir folder;
  const auto bytes = [&](const char* shard) {
    const LoadedRun run = load_small(
        folder, {"train.accumulate=2", "train.shards=2", text("train.shard_optimizer=", shard)});
    std::vector<int64_t> of_rank(2);
    run_ranks(2, [&](Communicator& ranks) {
      of_rank[static_cast<size_t>(ranks.rank())] =
          make_plan(run, ProcessCrew(ranks)).optimizer_bytes;
    });
    return of_rank;
  };
  const std::vector<int64_t> whole = bytes("false"), parts = bytes("true");
  CHECK(whole[0] == whole[1]);
  for (const int64_t part : parts) CHECK(part < whole[0] * 6 / 10);
}
