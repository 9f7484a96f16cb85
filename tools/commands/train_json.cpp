#include "tools/commands/train_json.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/terminal/table.h"

namespace heed::cli {

namespace {

using TrainEvent = nlohmann::ordered_json;

// Prints if `on`; whether that went well.
bool print_event(bool on, const TrainEvent& event) {
  if (!on) return false;
  print_object(event);
  return std::fflush(stdout) == 0;
}

}  // namespace

void JsonLines::plan(const Plan& plan, int64_t steps, const Trainer* trainer) {
  TrainEvent event = {{"event", "plan"},
                      {"parameters", plan.parameters},
                      {"trained_parameters", plan.trained_parameters},
                      {"training_tokens", plan.training_tokens},
                      {"tokens_per_step", plan.tokens_per_step},
                      {"flops_per_step", plan.flops_per_step},
                      {"memory_bytes", plan.total_bytes()},
                      {"steps", steps},
                      {"warnings", plan.warnings}};
  if (trainer != nullptr) {
    event.update({{"step", trainer->step()}, {"run", trainer->folder().path().string()}});
  }
  on_ = print_event(on_, event);
}

void JsonLines::on_metrics(const MetricsRow& row) {
  TrainEvent event = {{"event", "row"}, {"step", row.step}};
  for_each_column(row, [&](const char* column, const auto& value) {
    event[column] = value ? TrainEvent(*value) : TrainEvent();
  });
  for (const auto& [name, value] : row.added) event[name] = value;
  const bool was_on = on_;
  on_ = print_event(on_, event);
  if (was_on && !on_) std::raise(SIGINT);  // nobody reads any more: the run saves and ends
}

void JsonLines::end(const Trainer& trainer, Ending ending) {
  constexpr std::array names{"finished", "out_of_time", "interrupted", "no_gain"};
  on_ = print_event(on_, {{"event", "end"},
                          {"ending", names.at(static_cast<size_t>(ending))},
                          {"step", trainer.step()},
                          {"run", trainer.folder().path().string()}});
}

}  // namespace heed::cli
