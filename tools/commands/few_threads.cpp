#include "tools/commands/few_threads.h"

#include <algorithm>
#include <vector>

#include "autograd/array/storage.h"
#include "tools/commands/trial_steps.h"
#include "tools/wings/bench/thread_model.h"
#include "train/plan.h"

namespace heed::cli {

namespace {

constexpr int64_t small_flops = 300'000'000;  // of a step: a few milliseconds on one thread
constexpr int untimed_steps = 2, timed_steps = 9;

// With 1, 2, 4, ... and `most` threads.
std::vector<ThreadTrial> try_out(const LoadedRun& run, int most) {
  region_seconds(most);  // measured before the number of threads is limited
  TrialSteps steps(run);
  std::vector<ThreadTrial> trials;
  for (int threads = 1; trials.empty() || trials.back().threads < most; threads *= 2) {
    const int limited = std::min(threads, most);
    limit_threads(limited);
    for (int i = 0; i < untimed_steps; ++i) steps.next();
    std::vector<StepTimes> times;
    for (int i = 0; i < timed_steps; ++i) {
      const LoopTimes loops;
      steps.next();
      times.push_back(times_of(loops));
    }
    trials.push_back({limited, model_step(typical(std::move(times)), limited).seconds});
  }
  return trials;
}

}  // namespace

int fewest_that_pay(const std::vector<ThreadTrial>& trials) {
  const auto best = std::min_element(trials.begin(), trials.end(),
                                     [](auto& a, auto& b) { return a.seconds < b.seconds; });
  return std::find_if(
             trials.begin(), trials.end(),
             [&](const ThreadTrial& trial) { return trial.seconds <= 1.05 * best->seconds; })
      ->threads;
}

bool use_threads_that_pay(const LoadedRun& run, int64_t flops_per_step) {
  const int most = num_threads();
  if (most == 1 || threads_were_set() || flops_per_step > small_flops) {
    return false;
  }
  const RestoreState restore(*run.task);
  apply_settings(run.config);
  std::vector<ThreadTrial> trials;
  try {
    trials = try_out(run, most);
  } catch (const DivergedError&) {
    trials.push_back({most, 0});  // the run will say so
  }
  pool::trim();
  const int fewest = fewest_that_pay(trials);
  limit_threads(fewest);
  return fewest < most;
}

}  // namespace heed::cli
