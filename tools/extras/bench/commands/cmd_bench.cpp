// heed bench: times training steps, with the same code as the trainer.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "autograd/kernels/blas_info.h"
#include "autograd/kernels/gemm.h"
#include "autograd/threads/machine.h"
#include "layers/config/fields.h"
#include "tools/command.h"
#include "tools/commands/threads_that_pay.h"
#include "tools/extras/bench/gemm_speed.h"
#include "tools/extras/bench/median.h"
#include "tools/extras/bench/profile.h"
#include "tools/extras/bench/trial_steps.h"
#include "tools/terminal/table.h"
#include "train/optim/schedule.h"
#include "train/plan.h"
#include "train/step.h"
#include "train/workers.h"

namespace heed::cli {

namespace {

struct BenchOptions {
  std::string config;
  std::vector<std::string> sets;
  int64_t steps = 50;
  bool profile = false;
  bool json = false;
};

void declare(Arguments& arguments, BenchOptions& o) {
  arguments.config("CONFIG", o.config, "a config to train")
      .option("--set", o.sets,
              "change a value: --set model.dropout=0.2; may be repeated, the last one counts")
      .option("--steps", o.steps, "how many steps are timed, after three to warm up (50)",
              in_range(1, 1'000'000))
      .threads()
      .flag("--profile", o.profile, "time by operation, too")
      .flag("--json", o.json, "one JSON object on standard output");
}

struct Measured {
  std::vector<double> seconds;  // of each step, sorted
  double tokens = 0;            // of a step
  double flops = 0;             // of a step
  double loss = 0;              // of the last step; equals that of `heed train` at this step
  double peak_mb = 0;           // peak so far
  std::vector<ProfileRow> rows;
  int processes = 1;

  double quantile(double q) const {
    return seconds[static_cast<size_t>(q * static_cast<double>(seconds.size() - 1) + 0.5)];
  }
  double mean() const {
    return std::accumulate(seconds.begin(), seconds.end(), 0.0) /
           static_cast<double>(seconds.size());
  }
};

constexpr int64_t warm_up_steps = 3;

Measured measure(TrialSteps& steps_of_run, int64_t steps, bool profile) {
  Measured measured;
  std::optional<Profile> times;
  for (int64_t i = 0; i < warm_up_steps + steps; ++i) {
    if (i == warm_up_steps && profile) {
      times.emplace();
    }
    const int64_t flops = flop_count();
    StepResult step;
    const double seconds = seconds_of([&] { step = steps_of_run.next(); });
    if (i >= warm_up_steps) {
      measured.seconds.push_back(seconds);
      measured.tokens = static_cast<double>(step.tokens);
      measured.flops = static_cast<double>(flop_count() - flops);
      measured.loss = step.loss;
    }
  }
  if (times) {
    measured.rows = times->rows();
  }
  measured.peak_mb = static_cast<double>(peak_resident_bytes()) / 1e6;
  std::sort(measured.seconds.begin(), measured.seconds.end());
  return measured;
}

// These operations read only part of their input, so their traffic is not counted.
bool reads_all(const std::string& op) { return op != "embedding" && op != "slice"; }

// Time per step by operation. The last row is everything else: the batch, clipping, the optimizer.
nlohmann::ordered_json profile_rows(const Measured& m) {
  const auto steps = static_cast<double>(m.seconds.size());
  nlohmann::ordered_json rows;
  double rest = m.mean();
  for (const ProfileRow& row : m.rows) {
    const double seconds = row.forward_seconds + row.backward_seconds;
    const auto flops = static_cast<double>(row.forward_flops + row.backward_flops);
    const auto numbers = static_cast<double>(row.forward_numbers + row.backward_numbers);
    rows.push_back({{"op", row.op},
                    {"calls", static_cast<double>(row.calls) / steps},
                    {"forward_ms", 1e3 * row.forward_seconds / steps},
                    {"backward_ms", 1e3 * row.backward_seconds / steps},
                    {"gflops", flops / seconds / 1e9}});
    if (reads_all(row.op)) {
      rows.back()["gb_per_second"] = sizeof(real) * numbers / seconds / 1e9;
    }
    rest -= seconds / steps;
  }
  rows.push_back({{"op", m.processes > 1 ? "batch, clipping, optimizer, other processes"
                                         : "batch, clipping, optimizer"},
                  {"ms", 1e3 * rest}});
  return rows;
}

nlohmann::ordered_json as_json(const Measured& m, const GemmSpeed& speed) {
  const double median = m.quantile(0.5);
  const double gflops = m.flops / median / 1e9;
  nlohmann::ordered_json result{{"ms_per_step", 1e3 * median},
                                {"ms_p10", 1e3 * m.quantile(0.1)},
                                {"ms_p90", 1e3 * m.quantile(0.9)},
                                {"ms_mean", 1e3 * m.mean()},
                                {"tokens_per_second", m.tokens / median},
                                {"gflop_per_step", m.flops / 1e9},
                                {"gflops", gflops},
                                {"sgemm_gflops", speed.openblas},
                                {"share_of_peak", gflops / speed.openblas},
                                {"product_gflops", speed.heed},
                                {"peak_mb", m.peak_mb},
                                {"threads", num_threads()},
                                {"kernel", blas_info().kernel},
                                {"loss", m.loss}};
  if (m.processes > 1) {
    result["processes"] = m.processes;
  }
  if (!m.rows.empty()) {
    result["profile"] = profile_rows(m);
  }
  return result;
}

void print_profile(const nlohmann::ordered_json& rows) {
  std::printf("\n%-28s %6s %11s %12s %8s %6s\n", "operation, a step", "calls", "forward ms",
              "backward ms", "GFLOP/s", "GB/s");
  for (const auto& row : rows) {
    const auto op = row["op"].get<std::string>();
    if (row.contains("ms")) {
      std::printf("%-28s %30.3f\n", op.c_str(), row["ms"].get<double>());
      continue;
    }
    std::printf("%-28s %6.0f %11.3f %12.3f", op.c_str(), row["calls"].get<double>(),
                row["forward_ms"].get<double>(), row["backward_ms"].get<double>());
    const double gflops = row["gflops"].get<double>();
    std::printf(" %8s", gflops > 0 ? text(std::llround(gflops)).c_str() : "");
    if (row.contains("gb_per_second")) {
      std::printf(" %6.1f", row["gb_per_second"].get<double>());
    }
    std::printf("\n");
  }
}

int bench(const BenchOptions& o, Workers& workers) {
  RunTree tree = read_run_tree(o.config, o.sets);
  require<ConfigError>(tree.root.get("precision").text() != "float64",
                       "heed bench: measures float32, ",
                       "and the config says precision: float64; --set precision=float32");
  workers.join("heed bench");
  const LoadedRun loaded = load_run(std::move(tree), std::filesystem::path(o.config).parent_path());
  const Placement known = workers.compare(loaded);
  const Plan plan = make_plan(loaded, workers);
  require_memory(plan, known.on_this_host);
  if (workers.size() == 1) {
    use_threads_that_pay(plan.flops_per_step);
  }
  apply_settings(loaded.config);
  TrialSteps steps(loaded, workers);
  Measured measured = measure(steps, o.steps, o.profile);
  measured.processes = workers.size();
  workers.leave();
  if (!workers.leads()) {
    return 0;
  }
  const nlohmann::ordered_json result = as_json(measured, gemm_speed());
  if (o.json) {
    print_object(result);
    return 0;
  }
  std::printf("step         %.2f ms (p10 %.2f, p90 %.2f)\n", result["ms_per_step"].get<double>(),
              result["ms_p10"].get<double>(), result["ms_p90"].get<double>());
  std::printf("tokens       %.0f a second\n", result["tokens_per_second"].get<double>());
  std::printf("arithmetic   %.0f GFLOP/s; large matrix products: %.0f, by OpenBLAS %.0f\n",
              result["gflops"].get<double>(), result["product_gflops"].get<double>(),
              result["sgemm_gflops"].get<double>());
  if (workers.size() > 1) {
    std::printf("%s\n", known.plan_lines[0].c_str());
  }
  std::printf("memory       %.1f MB at most\n", result["peak_mb"].get<double>());
  if (o.profile) {
    print_profile(result["profile"]);
  }
  return 0;
}

int run(const BenchOptions& o) {
  return run_with_workers([&](Workers& workers) { return bench(o, workers); });
}

}  // namespace

Command bench_command() {
  return with_workers(command<BenchOptions>("bench", "times the trainer's own step",
                                            "heed bench shakespeare_char --steps 100", declare, run,
                                            Group::take_apart));
}

}  // namespace heed::cli
