#include "tools/wings/bench/model_threads.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "autograd/base/error.h"
#include "autograd/threads/machine.h"
#include "layers/config/values.h"
#include "tools/terminal/table.h"
#include "tools/wings/bench/median.h"
#include "tools/wings/bench/thread_model.h"

namespace heed::cli {

namespace {

using Json = nlohmann::ordered_json;

StepTimes timed_by_chunk(int threads, const std::function<void()>& step) {
  set_num_threads(threads);
  LoopTimes times;
  step();
  return times.step();
}

// The steps of one number of threads.
struct Column {
  int threads;
  std::vector<StepTimes> steps = {};
  std::vector<double> measured = {};  // seconds
};

// The shares of a step's time during which threads wait, the largest ones.
Json idle_shares(const StepModel& step) {
  constexpr size_t most = 8;
  std::vector<std::pair<double, std::string>> shares;
  for (const auto& [op, seconds] : step.idle) {
    shares.emplace_back(seconds / step.seconds, op.empty() ? "batch, clipping, optimizer" : op);
  }
  std::sort(shares.rbegin(), shares.rend());
  shares.resize(std::min(shares.size(), most));
  Json rows = Json::array();
  for (const auto& [share, op] : shares) {
    rows.push_back({{"op", op}, {"share", share}});
  }
  return rows;
}

Json model_threads(const std::vector<int>& threads, int64_t steps,
                   const std::function<void()>& step) {
  const int before = num_threads();
  const int cores = default_threads();
  std::vector<Column> columns{{1}};
  for (const int n : threads) {
    columns.push_back({n});
  }
  constexpr int unmeasured_steps = 2;
  for (int i = 0; i < unmeasured_steps; ++i) {
    step();
  }
  for (int64_t i = 0; i < steps; ++i) {
    for (Column& column : columns) {
      column.steps.push_back(timed_by_chunk(column.threads, step));
      if (column.threads <= cores) {
        set_num_threads(column.threads);
        column.measured.push_back(seconds_of(step));
      }
    }
  }
  set_num_threads(before);
  const double alone = typical(columns[0].steps).total();
  Json result;
  int largest = 0;
  for (size_t k = 1; k < columns.size(); ++k) {
    const Column& column = columns[k];
    const StepTimes times = typical(column.steps);
    const StepModel model = model_step(times, column.threads);
    const std::string name = std::to_string(column.threads);
    result["model"][name] = alone / model.seconds;
    if (!column.measured.empty()) {
      result["measured"][name] = median(columns[0].measured) / median(column.measured);
    }
    result["region_us"][name] = 1e6 * region_seconds(column.threads);
    if (column.threads > largest) {
      largest = column.threads;
      result["loops_per_step"] = times.loops.size();
      result["serial_share"] = model.serial / times.total();
      result["idle"] = idle_shares(model);
    }
  }
  return result;
}

void print_table(const Json& result) {
  std::printf("%7s %9s %9s\n", "threads", "modelled", "measured");
  std::string largest;
  for (const auto& [threads, factor] : result["model"].items()) {
    const bool measured = result.contains("measured") && result["measured"].contains(threads);
    std::printf("%7s %8.2fx", threads.c_str(), factor.get<double>());
    if (measured) {
      std::printf(" %8.2fx", result["measured"][threads].get<double>());
    }
    std::printf("\n");
    largest = threads;
  }
  std::printf("\n%lld loops a step; %.1f%% of a step on one thread is in no loop that is shared\n",
              static_cast<long long>(result["loops_per_step"].get<int64_t>()),
              100 * result["serial_share"].get<double>());
  std::printf("where most threads wait, of their time:");
  for (const auto& row : result["idle"]) {
    std::printf(" %s %.1f%%", row["op"].get<std::string>().c_str(),
                100 * row["share"].get<double>());
  }
  std::printf(
      "\nThe model is a bound: each thread that is free takes the next chunk of a loop, as "
      "timed on one\nthread, and a loop costs %.1f us more. Memory bandwidth is not in it.\n",
      result["region_us"][largest].get<double>());
}

}  // namespace

std::vector<int> read_thread_counts(const std::string& text) {
  std::vector<int> counts;
  std::istringstream words(text + ",");
  for (std::string word; std::getline(words, word, ',');) {
    const auto count = whole_number(ConfigNode::scalar(word, /*quoted=*/false));
    require<ConfigError>(count && *count >= 1 && *count <= most_threads,
                         "heed bench: expected --model-threads with numbers from 1 to ",
                         most_threads, " and commas between them, such as 2,4,8,16, got ", text);
    counts.push_back(static_cast<int>(*count));
  }
  return counts;
}

void print_thread_model(const std::vector<int>& threads, int64_t steps, bool json,
                        const std::function<void()>& step) {
  const Json result = model_threads(threads, steps, step);
  if (json) {
    print_object(result);
  } else {
    print_table(result);
  }
}

}  // namespace heed::cli
