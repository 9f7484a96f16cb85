#include "tools/wings/bench/loop_times.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "autograd/base/error.h"
#include "autograd/graph/tensor.h"
#include "autograd/ops/arithmetic.h"

TEST_CASE("loop_times: every chunk of every loop in order, on the calling thread") {
  heed::LoopTimes times;
  const auto self = std::this_thread::get_id();
  int64_t elsewhere = 0;
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  // What each chunk takes by its own clock lies within what is recorded of it, however busy the
  // machine is; together the chunks take no longer than the loop.
  std::vector<double> inside;
  const Clock::time_point start = Clock::now();
  heed::parallel_for(3, 1, [&](int64_t begin, int64_t) {
    const Clock::time_point of_chunk = Clock::now();
    elsewhere += std::this_thread::get_id() != self;
    std::this_thread::sleep_for(std::chrono::milliseconds(begin == 1 ? 8 : 1));
    heed::parallel_for(100, 1, [](int64_t, int64_t) {});  // belongs to the chunk it is in
    inside.push_back(seconds_since(of_chunk));
  });
  const double whole = seconds_since(start);
  heed::parallel_for(1, 1, [](int64_t, int64_t) {});
  const double sum = heed::parallel_sum(10, 4, [](int64_t begin, int64_t) { return begin; });
  CHECK(elsewhere == 0);
  CHECK(sum == 12);
  const heed::StepTimes taken = times.step();
  const auto& loops = taken.loops;
  REQUIRE(loops.size() == 3);
  REQUIRE(loops[0].chunks.size() == 3);
  for (size_t i = 0; i < 3; ++i) CHECK(loops[0].chunks[i] >= inside[i]);
  CHECK(loops[0].chunks[1] >= 0.008);
  CHECK(loops[0].chunks[0] + loops[0].chunks[1] + loops[0].chunks[2] <= whole);
  CHECK(loops[1].chunks.size() == 1);
  CHECK(loops[2].chunks.size() == 3);
  CHECK(loops[2].before >= 0);
  CHECK(taken.after >= 0);
  CHECK_THROWS_AS(heed::LoopTimes(), heed::Error);
}

TEST_CASE("loop_times: loops carry the name of their operation") {
  const heed::Tensor x = heed::Tensor::parameter(heed::Array::full({100000}, 2));
  {
    heed::LoopTimes times;
    const heed::Tensor y = heed::multiply(x, x);
    y.backward(heed::Array::full({100000}, 1));
    const auto loops = times.step().loops;
    REQUIRE(loops.size() >= 2);
    CHECK(loops.front().op == "multiply");
    CHECK(loops.back().op == "multiply");
  }
}
