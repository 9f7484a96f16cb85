#include "autograd/array/storage.h"

#include <fstream>
#include <limits>
#include <new>

#include "autograd/base/modes.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/linear.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/sum.h"
#include "tests/support/near.h"

using namespace heed;
using namespace heed::testing;

namespace {

// The resident set size of this process, in bytes.
int64_t bytes_in_memory() {
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0, resident = 0;
  statm >> pages >> resident;
  return resident * 4096;
}

real training_step(const Tensor& x, const Tensor& weight) {
  const Tensor loss = sum(softmax(linear(x, weight, Tensor())) * 2);
  loss.backward();
  return loss.item();
}

}  // namespace

TEST_CASE("storage: what is given back is used again") {
  const Array first = Array::zeros({1000});
  const auto live = pool::stats().live_bytes;
  const real* where = nullptr;
  {
    const Array a = Array::zeros({12345});
    where = a.data();
    CHECK(pool::stats().live_bytes >= live + 12345 * static_cast<int64_t>(sizeof(real)));
    CHECK(pool::stats().live_bytes <=
          live + 12345 * static_cast<int64_t>(sizeof(real)) * 9 / 8 + 256);
  }
  CHECK(pool::stats().live_bytes == live);
  CHECK(Array::zeros({12345}).data() == where);
}

TEST_CASE("storage: a computation that repeats asks the system for nothing") {
  const Tensor x = values({64, 100});
  const Tensor weight = wanted(values({50, 100}));
  training_step(x, weight);
  training_step(x, weight);
  const int64_t misses = pool::stats().misses, live = pool::stats().live_bytes;
  for (int step = 0; step < 10; ++step) {
    training_step(x, weight);
  }
  CHECK(pool::stats().misses == misses);
  CHECK(pool::stats().live_bytes == live);
}

TEST_CASE("storage: the peak") {
  pool::reset_peak();
  const int64_t before = pool::stats().peak_bytes;
  { const Array a = Array::zeros({100000}); }
  CHECK(pool::stats().peak_bytes >= before + 100000 * static_cast<int64_t>(sizeof(real)));
  pool::reset_peak();
  CHECK(pool::stats().peak_bytes == pool::stats().live_bytes);
}

TEST_CASE("storage: sizes of all kinds") {
  int64_t checked = 0;
  for (int64_t n = 0; n < 3000; n += 1 + n / 7) {
    Array a = Array::uninitialised({n});
    std::fill_n(a.mutable_data(), n, real{1});
    checked += std::count(a.span().begin(), a.span().end(), real{1});
  }
  CHECK(checked > 10000);
}

TEST_CASE("storage: more than any machine can address") {
  const DryRun dry;
  for (int64_t n = int64_t{1} << 50; n <= std::numeric_limits<int64_t>::max() / 32; n += n / 5) {
    CHECK_THROWS_AS(Array::uninitialised({n}), std::bad_alloc);
  }
}

TEST_CASE("storage: trim gives large blocks back to the system") {
  { const Array a = Array::zeros({1 << 20}); }
  const int64_t before = pool::stats().reserved_bytes;
  pool::trim();
  CHECK(pool::stats().reserved_bytes <= before - (1 << 20) * static_cast<int64_t>(sizeof(real)));
}

TEST_CASE("storage: neighbours that are free make room for one of their size together") {
  const DryRun dry;
  constexpr int64_t n = 1 << 20;
  std::vector<Array> four;
  for (int i = 0; i < 4; ++i) four.push_back(Array::zeros({n}));
  const PoolStats before = pool::stats();
  four.erase(four.begin() + 1, four.begin() + 3);
  four.push_back(Array::zeros({2 * n}));
  four.clear();
  four.push_back(Array::zeros({4 * n}));
  CHECK(pool::stats().misses == before.misses);
  CHECK(pool::stats().reserved_bytes == before.reserved_bytes);
}

TEST_CASE("storage: arrays of many sizes take little more than the most in use at a time") {
  const DryRun dry;
  const int64_t rest = pool::stats().reserved_bytes;
  std::vector<Array> kept;
  uint64_t state = 1;
  int64_t most = 0, in_use = 0;
  const auto bytes = [](const Array& a) { return a.size() * static_cast<int64_t>(sizeof(real)); };
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const auto random = static_cast<int64_t>(state >> 40);
    if (kept.size() == 30) {
      const auto at = kept.begin() + random % 30;
      in_use -= bytes(*at);
      kept.erase(at);
    }
    kept.push_back(Array::uninitialised({(1 << 18) + random % (1 << 22)}));
    in_use += bytes(kept.back());
    most = std::max(most, in_use);
  }
  CHECK(pool::stats().reserved_bytes - rest < most / 8 * 9);
}

TEST_CASE("storage: a dry run takes the small blocks of the one before, and counts them") {
  const auto hundred_arrays = [] {
    const DryRun dry;
    std::vector<Array> kept;
    for (int i = 0; i < 100; ++i) kept.push_back(Array::zeros({1000}));
    return pool::stats();
  };
  const PoolStats first = hundred_arrays(), second = hundred_arrays();
  CHECK(second.misses == first.misses);
  CHECK(second.reserved_bytes == first.reserved_bytes);
}

TEST_CASE("storage: a dry run counts memory and touches none") {
  const int64_t live = pool::stats().live_bytes;
  const int64_t resident = bytes_in_memory();
  int64_t peak = 0;
  {
    const DryRun dry;
    CHECK(dry_run());
    const Tensor x = Array::zeros({1 << 20, 1024});
    const Tensor weight = wanted(Array::uninitialised({1024, 1024}));
    training_step(x, weight);
    peak = pool::stats().peak_bytes;
    CHECK_THROWS_WITH_AS(DryRun(), "dry run: one is already under way", GraphError);
  }
  CHECK(!dry_run());
  CHECK(peak > int64_t{3} << 32);  // x, the product, and the results of softmax and multiply
  CHECK(bytes_in_memory() - resident < 4 << 20);
  CHECK(pool::stats().live_bytes == live);
}
