#include "train/extras/optimizers/spike_guard.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "layers/text/formatted.h"
#include "train/files/safetensors.h"

namespace heed {

namespace {

constexpr const char* stored_spikes = "spikes.safetensors";
constexpr int64_t numbers_of_state = sizeof(SpikeStatistics::State) / sizeof(double);

SpikeStatistics::State read_spikes(const std::filesystem::path& path) {
  const SafeTensors file(path);
  const TensorInfo& info = file.at("state");
  require<IoError>(info.dtype == Dtype::F64 && info.shape == std::vector<int64_t>{numbers_of_state},
                   path.string(), ": tensor \"state\": expected F64 of shape (", numbers_of_state,
                   ",)");
  SpikeStatistics::State state;
  std::memcpy(&state, file.bytes("state").data(), sizeof state);
  for (const double each : {state.norms, state.mean, state.variance, state.spikes}) {
    require<IoError>(std::isfinite(each) && each >= 0, path.string(),
                     ": tensor \"state\": expected numbers of at least 0, got ", each);
  }
  return state;
}

}  // namespace

bool SpikeStatistics::add(double norm, double limit) {
  const double deviation = std::sqrt(state.variance), most = state.mean + limit * deviation;
  const bool spike = state.norms >= first && deviation > 0 && norm > most;
  deviations_ = (norm - state.mean) / deviation;
  state.norms += 1;
  state.spikes += spike ? 1 : 0;
  const double taken = spike ? most : norm, n = std::min(state.norms, window);
  const double difference = taken - state.mean;
  state.mean += difference / n;
  state.variance += (difference * (taken - state.mean) - state.variance) / n;
  return spike;
}

std::vector<std::string> SpikeGuard::about_run(const LoadedRun& run, const Plan&) const {
  const auto steps = static_cast<double>(run.config.train.steps);
  if (!run.config.train.extra.get<SpikeKeys>().skip_spikes || steps > SpikeStatistics::first) {
    return {};
  }
  return {text("train.skip_spikes: has no effect in ", steps, " steps: the first ",
               SpikeStatistics::first, " are never left out")};
}

// train() may be called again: the mean is then the one that it has come to.
void SpikeGuard::on_start(const RunInTraining& run) {
  if (limit_) return;
  limit_ = run.loaded.config.train.extra.get<SpikeKeys>().skip_spikes;
  const Path saved = run.loaded.checkpoint / stored_spikes;
  if (limit_ && !run.loaded.checkpoint.empty()) statistics_.state = read_spikes(saved);
}

std::string SpikeGuard::objection(double grad_norm) {
  const double mean = statistics_.state.mean;
  if (!limit_ || !statistics_.add(grad_norm, *limit_)) return "";
  return text("the norm of its gradients, ", formatted("%.4g", grad_norm), ", is ",
              formatted("%.3g", statistics_.deviations()), " deviations above its mean, ",
              formatted("%.4g", mean), "; ", static_cast<int64_t>(statistics_.state.spikes),
              " so far");
}

void SpikeGuard::on_save(const Path& folder, std::map<std::string, Fingerprint>& files) {
  if (!limit_) return;
  const Bytes bytes = std::as_bytes(std::span(&statistics_.state, 1));
  files[stored_spikes] =
      write_safetensors(folder / stored_spikes, {{"state", Dtype::F64, {numbers_of_state}, bytes}});
}

}  // namespace heed
