// The sum of the gradients of a step over several processes. Whole runs: mpi_test.sh.
#include "train/extras/processes/shard_sum.h"

#include <doctest/doctest.h>

#include "tests/support/near.h"
#include "train/extras/processes/tests/thread_ranks.h"

using namespace heed;
using namespace heed::testing;

namespace {

constexpr int64_t shards = 5;

std::vector<NamedParameter> three_parameters() {
  std::vector<NamedParameter> parameters;
  for (const auto& [name, shape] :
       std::vector<std::pair<std::string, Shape>>{{"a", {2}}, {"b", {100, 100}}, {"c", {3}}}) {
    parameters.push_back({name, Tensor::parameter(Array::zeros(shape))});
  }
  return parameters;
}

// Gradients of very different sizes, so that the order of a sum shows; "a" has one in the odd
// shards, "c" in none. Returns the loss.
LossSum set_gradients(const std::vector<NamedParameter>& parameters, int64_t shard) {
  for (size_t p = 0; p < 2; ++p) {
    Tensor parameter = parameters[p].tensor;
    const auto size = static_cast<real>(std::pow(1000.0, static_cast<double>(shard % 3)));
    if (p == 1 || shard % 2 == 1) {
      parameter.set_grad(values(parameter.shape(), -size, size, static_cast<uint64_t>(shard)));
    }
  }
  LossSum loss{.loss = 0.1 * static_cast<double>(shard + 1), .targets = shard};
  loss.added["all"] = 0.1 * static_cast<double>(shard * shard);
  if (shard % 2 == 1) loss.added["odd"] = 0.3 * static_cast<double>(shard);
  return loss;
}

}  // namespace

TEST_CASE("shards: parts are contiguous, in order, and differ by one at most") {
  int64_t compared = 0;
  for (const int64_t count : {1, 4, 7, 12}) {
    for (int64_t parts = 1; parts <= count; ++parts) {
      int64_t end = 0;
      for (int64_t k = 0; k < parts; ++k) {
        const Part part = part_of(count, parts, k);
        CHECK(part.begin == end);
        CHECK((part.size() == count / parts || part.size() == count / parts + 1));
        end = part.end;
        ++compared;
      }
      CHECK(end == count);
    }
  }
  CHECK(compared == 1 + 10 + 28 + 78);
  CHECK(part_of(int64_t{1} << 61, 1 << 20, (1 << 20) - 1).end == int64_t{1} << 61);
}

TEST_CASE("shards: the sums of several processes have the bits of one") {
  const std::vector<NamedParameter> expected = three_parameters();
  GradientSum plain(expected, shards, shards);
  for (int64_t shard = 0; shard < shards; ++shard) plain.add(set_gradients(expected, shard));
  const LossSum loss = plain.total();
  int64_t compared = 0;
  for (const int processes : {2, 3, 5}) {
    run_ranks(processes, [&](Communicator& ranks) {
      const std::vector<NamedParameter> parameters = three_parameters();
      ShardSum sum(parameters, shards, shards, ranks);
      for (int64_t shard = sum.own().begin; shard < sum.own().end; ++shard) {
        sum.add(set_gradients(parameters, shard));
      }
      const LossSum all = sum.total();
      CHECK(all.loss == loss.loss);
      CHECK(all.targets == loss.targets);
      CHECK(all.added.size() == 2);
      CHECK(all.added == loss.added);
      for (size_t p = 0; p < 2; ++p) {
        check_same_bits(parameters[p].tensor.grad(), expected[p].tensor.grad());
        ++compared;
      }
      CHECK(!parameters[2].tensor.grad());  // had none in any shard
    });
  }
  CHECK(compared == 2 * (2 + 3 + 5));
}
