#include "train/extras/optimizers/averaged_weights.h"

#include <algorithm>
#include <cmath>

#include "autograd/base/elementary.h"
#include "layers/text/formatted.h"
#include "train/checkpoint/state_dict.h"
#include "train/files/human_readable.h"
#include "train/optim/element_loop.h"
#include "train/step.h"

namespace heed {

namespace {

constexpr const char* stored_mean = "average.safetensors";

const std::optional<double>& decay_of(const LoadedRun& run) {
  return run.config.train.extra.get<EmaKeys>().ema.decay;
}

}  // namespace

std::filesystem::path mean_of(const LoadedRun& run) {
  const std::filesystem::path file = run.checkpoint / stored_mean;
  return decay_of(run) && !run.checkpoint.empty() && is_there(file) ? file : "";
}

void EmaConfig::fields(Fields& f) {
  f.optional("decay", decay, in_range(0, 1, Bound::open, Bound::open),
             "how much of the mean stays at a step: 0.999");
}

void AveragedWeights::on_loaded(Module& model, const LoadedRun& run) const {
  if (const Path mean = mean_of(run); !mean.empty()) load_parameters(model, mean);
}

std::vector<std::pair<std::string, std::string>> AveragedWeights::details(
    const LoadedRun& run) const {
  if (!decay_of(run)) return {};
  return {{"average", text("of the weights, decay ", formatted("%.12g", *decay_of(run)),
                           ", for evaluations and samples; as large in memory as they are")}};
}

std::vector<std::string> AveragedWeights::about_run(const LoadedRun& run, const Plan&) const {
  const int64_t steps = run.config.train.steps;
  if (!decay_of(run) || (1 - *decay_of(run)) * static_cast<double>(steps) >= 1) return {};
  return {text("train.ema.decay: a mean over about ",
               grouped(std::llround(1 / (1 - *decay_of(run)))), " steps, of which the run has ",
               grouped(steps), ": it stays near the first weights")};
}

// train() may be called again: the mean is then the one that it has come to.
void AveragedWeights::on_start(const RunInTraining& run) {
  if (!decay_of(run.loaded) || model_ != nullptr) return;
  model_ = &run.model;
  rest_ = static_cast<real>(1 - *decay_of(run.loaded));
  trained_ = trained_parameters(run.model);
  const Path mean = mean_of(run.loaded);
  if (mean.empty()) return;
  for (const NamedParameter& each : trained_) mean_.push_back(each.tensor.value().clone());
  load_parameters(run.model, mean);
  exchange_weights();
}

void AveragedWeights::Update::operator()(int64_t begin, int64_t end) const {
  const Update f = *this;  // in registers
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    f.mean[i] = multiply_add(f.rest, f.weights[i] - f.mean[i], f.mean[i]);
  }
}

std::string AveragedWeights::objection(double) {
  take_in();
  stepped_ = model_ != nullptr;
  return "";
}

void AveragedWeights::take_in() {
  if (!std::exchange(stepped_, false)) return;
  if (mean_.empty()) {
    for (const NamedParameter& each : trained_) mean_.push_back(each.tensor.value().clone());
    return;
  }
  ElementLoop<Update> updates(elementwise_grain);
  for (size_t k = 0; k < mean_.size(); ++k) {
    updates.add(mean_[k].size(),
                {mean_[k].mutable_data(), trained_[k].tensor.value().data(), rest_});
  }
  updates.run();
}

void AveragedWeights::exchange_weights() {
  take_in();
  const NoGrad off;
  for (size_t k = 0; k < mean_.size(); ++k) {
    real *const mean = mean_[k].mutable_data(), *const weights = trained_[k].tensor.mutable_value();
    parallel_for(mean_[k].size(), elementwise_grain, [=](int64_t begin, int64_t end) {
      std::swap_ranges(mean + begin, mean + end, weights + begin);
    });
  }
}

void AveragedWeights::on_save(const Path& folder, std::map<std::string, Fingerprint>& files) {
  if (model_ == nullptr) return;
  exchange_weights();
  files[stored_mean] = save_parameters(folder / stored_mean, *model_);
  exchange_weights();
}

}  // namespace heed
