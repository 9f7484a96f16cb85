// A small model with an optimizer to save and load, and ways to damage what was saved.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "autograd/base/rethrow.h"
#include "autograd/random/fills.h"
#include "autograd/random/streams.h"
#include "layers/causal_attention.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/state_dict.h"
#include "train/files/safetensors.h"

namespace heed::testing {

namespace fs = std::filesystem;

inline constexpr int64_t any_size = 1 << 20;

class Moments final : public Optimizer {
 public:
  explicit Moments(std::vector<NamedParameter> parameters) : Optimizer(std::move(parameters), 0) {
    first_ = zeros_like_parameters();
    second_ = zeros_like_parameters();
  }
  std::vector<std::pair<std::string, std::vector<Array>*>> state() override {
    return {{"exp_avg", &first_}, {"exp_avg_sq", &second_}};
  }

 protected:
  void update(size_t, Tensor&, const Array&, double, double) override {}

 private:
  std::vector<Array> first_, second_;
};

// A model with an optimizer and random streams, all determined by `seed`.
struct Training {
  explicit Training(uint64_t seed, int64_t step = 500)
      : model((manual_seed(seed),
               CausalAttention::Config{.d_in = 3, .d_out = 2, .context_length = 4})),
        optimizer(model.parameters()) {
    Generator numbers(seed);
    for (const auto& [kind, arrays] : optimizer.state()) {
      for (Array& array : *arrays) {
        fill_normal(numbers, {array.mutable_data(), static_cast<size_t>(array.size())});
      }
    }
    optimizer.set_steps(step);
    streams().dropout().random32();
    streams().data().normal();
    state = {.step = step,
             .tokens = 12345678901 + step,
             .best_val_loss = 1.0 / 3,
             .best_step = 400,
             .evaluations_since_best = 1,
             .streams = streams().state(),
             .task_position = {3, -1, int64_t{1} << 60},
             .sample_bytes = 77,
             .seconds = 12.5};
  }

  fs::path save(const fs::path& run, int64_t keep = 3, std::optional<int64_t> best = {}) {
    return save_checkpoint(run, model, &optimizer, state, {{"config.yaml", "seed: 1\n"}},
                           {keep, best});
  }
  void at(int64_t step) {
    state.step = step;
    optimizer.set_steps(step);
  }

  CausalAttention model;
  Moments optimizer;
  TrainingState state;
};

inline std::string weights_of(const Module& model) {
  return to_safetensors("w", parameter_views(model));
}

inline std::string moments_of(Optimizer& optimizer) {
  std::string bytes = std::to_string(optimizer.steps());
  for (const auto& [kind, arrays] : optimizer.state()) {
    for (const Array& array : *arrays) {
      bytes.append(reinterpret_cast<const char*>(array.data()),
                   static_cast<size_t>(array.size()) * sizeof(real));
    }
  }
  return bytes;
}

inline std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

template <class F>
std::string io_error(F&& f) {
  return heed::error_of<IoError>(f).value_or("");
}

// The error of loading the checkpoint into a fresh model, without the path; "" if it loads. Checks
// that a failed load does not change the model or the optimizer.
inline std::string refusal(const fs::path& checkpoint) {
  Training fresh(9);
  const std::string weights = weights_of(fresh.model), moments = moments_of(fresh.optimizer);
  const std::string message =
      io_error([&] { load_checkpoint(checkpoint, fresh.model, &fresh.optimizer); });
  CHECK((message.empty() || weights_of(fresh.model) == weights));
  CHECK((message.empty() || moments_of(fresh.optimizer) == moments));
  return message.starts_with(checkpoint.string()) ? message.substr(checkpoint.string().size())
                                                  : message;
}

inline void flip(const fs::path& path, size_t at) {
  std::string bytes = read_file(path, any_size);
  bytes.at(at) = static_cast<char>(bytes.at(at) ^ 1);
  write_file_atomically(path, bytes);
}

inline void truncate(const fs::path& path) { fs::resize_file(path, fs::file_size(path) - 1); }

// Rewrites the manifest to match the files as they are now, for damage that checksums do not show.
inline void sign_again(const fs::path& folder) {
  Manifest manifest = read_manifest(folder);
  for (auto& [name, print] : manifest.files) {
    print = fingerprint_file(folder / name);
  }
  write_manifest(folder, manifest);
}

// Gives a checkpoint these facts about its state.
inline void set_facts(const fs::path& folder, const std::string& facts) {
  std::vector<TensorView> tensors;
  {
    const SafeTensors before(folder / "state.safetensors");
    for (const TensorInfo& info : before.tensors()) {
      const auto bytes = std::make_shared<const std::vector<std::byte>>(before.bytes(info.name));
      tensors.push_back({info.name, info.dtype, info.shape, *bytes, bytes});
    }
  }
  write_safetensors(folder / "state.safetensors", std::move(tensors), {{"state", facts}});
  sign_again(folder);
}

inline const std::vector<std::string> all_files{"config.yaml", "manifest.json", "model.safetensors",
                                                "optimizer.safetensors", "state.safetensors"};

}  // namespace heed::testing
