#include "tools/wings/bench/thread_model.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>

#include "autograd/threads/machine.h"
#include "tools/wings/bench/median.h"

namespace heed::cli {

namespace {

using Clock = std::chrono::steady_clock;

// Seconds of a loop with empty chunks, one for each of `threads` threads.
double empty_loop_seconds(int threads) {
  constexpr size_t rounds = 201;
  constexpr int loops = 10;
  constexpr std::chrono::milliseconds longest{20};  // next to busy programs a loop takes that long
  const int before = num_threads();
  if (before != threads) {  // a number that is set is kept
    set_num_threads(threads);
  }
  std::vector<double> seconds;
  const Clock::time_point start = Clock::now();
  while (seconds.size() < rounds && Clock::now() - start < longest) {
    const double of_all = seconds_of([&] {
      for (int k = 0; k < loops; ++k) {
        parallel_for(threads, 1, [](int64_t, int64_t) {});
      }
    });
    seconds.push_back(of_all / loops);
  }
  if (before != threads) {
    set_num_threads(before);
  }
  return *std::min_element(seconds.begin(), seconds.end());  // busy programs only add to it
}

}  // namespace

double makespan(std::span<const double> chunks, int threads) {
  std::priority_queue<double, std::vector<double>, std::greater<>> free_at;
  for (int i = 0; i < threads; ++i) {
    free_at.push(0);
  }
  double end = 0;
  for (const double chunk : chunks) {
    const double finished = free_at.top() + chunk;
    free_at.pop();
    free_at.push(finished);
    end = std::max(end, finished);
  }
  return end;
}

double region_seconds(int threads) {
  static const int cores = default_threads();
  if (threads == 1) {
    return 0;
  }
  static const double measured = empty_loop_seconds(std::max(cores, 2));
  return measured * std::max(1.0, std::log2(threads) / std::log2(std::max(cores, 2)));
}

StepTimes typical(std::vector<StepTimes> steps) {
  const auto same_loops = [&](const StepTimes& other) {
    return std::equal(other.loops.begin(), other.loops.end(), steps[0].loops.begin(),
                      steps[0].loops.end(), [](const auto& a, const auto& b) {
                        return a.op == b.op && a.chunks.size() == b.chunks.size();
                      });
  };
  if (!std::all_of(steps.begin(), steps.end(), same_loops)) {
    const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
    std::nth_element(steps.begin(), middle, steps.end(),
                     [](const auto& a, const auto& b) { return a.total() < b.total(); });
    return *middle;
  }
  const auto median_of = [&](auto&& value) {
    std::vector<double> values;
    for (const StepTimes& step : steps) values.push_back(value(step));
    return median(std::move(values));
  };
  StepTimes result = steps[0];
  result.after = median_of([](const StepTimes& s) { return s.after; });
  for (size_t i = 0; i < result.loops.size(); ++i) {
    StepTimes::Loop& loop = result.loops[i];
    loop.before = median_of([&](const StepTimes& s) { return s.loops[i].before; });
    for (size_t k = 0; k < loop.chunks.size(); ++k) {
      loop.chunks[k] = median_of([&](const StepTimes& s) { return s.loops[i].chunks[k]; });
    }
  }
  return result;
}

StepModel model_step(const StepTimes& times, int threads) {
  StepModel step;
  const double waiting = static_cast<double>(threads - 1) / threads;  // while one thread works
  step.seconds = step.serial = times.after;
  step.idle[""] = times.after * waiting;
  for (const StepTimes::Loop& loop : times.loops) {
    const double work = std::accumulate(loop.chunks.begin(), loop.chunks.end(), 0.0);
    const bool shared = loop.chunks.size() > 1;
    const double took = (shared ? region_seconds(threads) : 0) + makespan(loop.chunks, threads);
    step.seconds += loop.before + took;
    step.serial += loop.before + (shared ? 0 : work);
    step.idle[loop.op] += loop.before * waiting + took - work / threads;
  }
  return step;
}

}  // namespace heed::cli
