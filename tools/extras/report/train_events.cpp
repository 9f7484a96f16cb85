#include "tools/extras/report/train_events.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/terminal/table.h"
#include "train/plan.h"
#include "train/run/metrics.h"

namespace heed {

namespace {

using TrainEvent = nlohmann::ordered_json;

// Prints if somebody reads; whether that went well.
bool print_event(bool is_read, const TrainEvent& event) {
  if (!is_read) return false;
  cli::print_object(event);
  return std::fflush(stdout) == 0;
}

}  // namespace

void TrainEvents::on_plan(const Plan& plan, const LoadedRun& loaded,
                          const std::filesystem::path& folder, int64_t step) {
  TrainEvent event = {{"event", "plan"},
                      {"parameters", plan.parameters},
                      {"trained_parameters", plan.trained_parameters},
                      {"training_tokens", plan.training_tokens},
                      {"tokens_per_step", plan.tokens_per_step},
                      {"flops_per_step", plan.flops_per_step},
                      {"memory_bytes", plan.total_bytes()},
                      {"steps", loaded.config.train.steps},
                      {"warnings", plan.warnings}};
  if (!folder.empty()) {
    event.update({{"step", step}, {"run", folder.string()}});
  }
  folder_ = folder;
  require<IoError>(print_event(is_read_, event), "standard output: cannot write to it");
}

void TrainEvents::on_metrics(const MetricsRow& row) {
  TrainEvent event = {{"event", "row"}, {"step", row.step}};
  for_each_column(row, [&](const char* column, const auto& value) {
    event[column] = value ? TrainEvent(*value) : TrainEvent();
  });
  for (const auto& [name, value] : row.added) event[name] = value;
  const bool was_read = is_read_;
  is_read_ = print_event(is_read_, event);
  if (was_read && !is_read_) std::raise(SIGINT);  // nobody reads any more: the run saves and ends
}

void TrainEvents::on_ended(Ending ending, int64_t step) {
  constexpr std::array names{"finished", "out_of_time", "interrupted", "no_gain"};
  is_read_ = print_event(is_read_, {{"event", "end"},
                                    {"ending", names.at(static_cast<size_t>(ending))},
                                    {"step", step},
                                    {"run", folder_.string()}});
}

}  // namespace heed
