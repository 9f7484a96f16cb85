#include "tools/extras/gradients/run/gradient_rows.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "layers/text/formatted.h"
#include "tools/extras/gradients/backward/recording.h"
#include "tools/extras/gradients/train/keys.h"
#include "tools/terminal/table.h"
#include "train/files/files.h"
#include "train/run/run_folder.h"
#include "train/step.h"

namespace heed {

namespace {

constexpr int64_t largest_file = int64_t{1} << 30;
const std::string heading = "step,parameter,grad_norm,weight_norm,update_norm\n";

// The rows of a file up to a step; without them what an interrupted process wrote after it.
std::string rows_until(const std::string& file, int64_t step) {
  std::string kept = heading;
  for (size_t at = heading.size(); at < file.size();) {
    const size_t end = file.find('\n', at);
    if (end == std::string::npos || std::atoll(file.c_str() + at) > step) break;
    kept += file.substr(at, end + 1 - at);
    at = end + 1;
  }
  return kept;
}

}  // namespace

void GradientRows::on_begin(const RunInTraining& run, int64_t step) {
  const EvalConfig& eval = run.loaded.config.eval;
  if (!eval.extra.get<GradientKeys>().gradients || !eval.every) return;
  model_ = &run.model;
  every_ = *eval.every;
  steps_ = run.loaded.config.train.steps;
  begin(run.folder, step);
}

void GradientRows::on_gradients(int64_t step, double scale) {
  if (model_ == nullptr || (step % every_ != 0 && step != steps_)) return;
  measured_ = step;
  rows_.clear();
  before_.clear();
  for (const NamedParameter& each : trained_parameters(*model_)) {
    const Array gradient = each.tensor.grad(), weights = each.tensor.value();
    rows_.push_back({each.name, gradient ? scale * gradients::euclidean_norm(gradient.span()) : 0,
                     gradients::euclidean_norm(weights.span()), 0});
    before_.push_back(weights.clone());
  }
}

void GradientRows::on_evaluation(int64_t step, const Evaluation&) { finish(step); }

// An interrupt may have stopped the evaluation of the last step.
void GradientRows::on_end(int64_t step, bool diverged) {
  if (!diverged) finish(step);
}

void GradientRows::finish(int64_t step) {
  if (measured_ != step) return;
  measured_.reset();
  size_t i = 0;
  for (const NamedParameter& each : trained_parameters(*model_)) {
    rows_[i].update_norm = gradients::euclidean_norm(each.tensor.value().span(), before_[i].span());
    ++i;
  }
  before_.clear();
  add(step, rows_);
}

void GradientFile::attempt(const std::function<void()>& f) {
  if (given_up_) return;
  try {
    f();
  } catch (const std::exception& error) {
    given_up_ = true;
    trouble_ = text("warning    no gradients.csv any more: ", error.what());
  }
}

void GradientFile::begin(const std::filesystem::path& folder, int64_t step) {
  file_ = folder / "gradients.csv";
  attempt([&] {
    const bool goes_on = step > 0 && is_there(file_);
    write_file_atomically(
        file_, goes_on ? rows_until(read_file(file_, largest_file), step) : heading, Links::refuse);
  });
}

void GradientFile::add(int64_t step, const std::vector<GradientRow>& rows) {
  std::string lines;
  for (const GradientRow& row : rows) {
    lines += text(step, ",", row.parameter) +
             formatted(",%.9g,%.9g,%.9g\n", row.grad_norm, row.weight_norm, row.update_norm);
  }
  attempt([&] { AppendFile(file_).append(lines); });
}

void GradientEvents::add(int64_t step, const std::vector<GradientRow>& rows) {
  using Object = nlohmann::ordered_json;
  Object parameters = Object::array();
  for (const GradientRow& row : rows) {
    parameters.push_back({{"parameter", row.parameter},
                          {"grad_norm", row.grad_norm},
                          {"weight_norm", row.weight_norm},
                          {"update_norm", row.update_norm}});
  }
  const Object event{{"event", "gradients"}, {"step", step}, {"parameters", std::move(parameters)}};
  cli::print_object(event);
  std::fflush(stdout);
}

}  // namespace heed
