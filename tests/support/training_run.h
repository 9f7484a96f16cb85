// Small training runs in this process.
#pragma once

#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "autograd/base/error.h"
#include "autograd/base/real.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"
#include "train/config/run_config.h"
#include "train/optim/optimizer.h"
#include "train/workers.h"
#include "train/yaml/yaml.h"

namespace heed::testing {

// 2,466 characters, 21 different.
inline std::string sample_text() {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += i % 3 == 0 ? "Every effort moves you.\n" : "Attention is all we need\n";
  }
  return text;
}

inline const char* const small_config = R"(seed: 5
data: {type: text, path: text.txt, train_fraction: 0.8}
model: {type: gpt, context_length: 8, d_model: 12, num_heads: 3, num_layers: 1}
optimizer: {type: adamw, lr: 1e-2}
train: {steps: 12, batch_size: 4, log_every: 4}
)";

// Writes text.txt and c.yaml into the folder; returns the path of c.yaml.
inline std::string write_config(const TempDir& folder, const std::string& config = small_config) {
  write_text(folder / "text.txt", sample_text());
  write_text(folder / "c.yaml", config);
  return (folder / "c.yaml").string();
}

// Paths in --set are relative to the current folder; these are in `folder`.
inline std::vector<std::string> sets_in(const TempDir& folder, std::vector<std::string> sets) {
  for (std::string& set : sets) {
    for (const std::string key : {"data.path=", "path: "}) {
      const size_t at = set.starts_with("data") ? set.find(key) : std::string::npos;
      if (at != std::string::npos) set.insert(at + key.size(), folder.path().string() + "/");
    }
  }
  return sets;
}

// Loads the small config with changes as given to --set, with paths in `folder`.
inline LoadedRun load_small(const TempDir& folder, const std::vector<std::string>& sets = {}) {
  return load_run(read_run_tree(write_config(folder), sets_in(folder, sets)), folder.path());
}

// The numbers of the first `count` examples: 0, 1, ..., count - 1.
inline std::vector<int64_t> first_examples(int64_t count) {
  std::vector<int64_t> which(static_cast<size_t>(count));
  std::iota(which.begin(), which.end(), int64_t{0});
  return which;
}

// Copies of all parameters.
inline std::vector<Array> weights(const Module& model) {
  std::vector<Array> all;
  for (const NamedParameter& parameter : model.parameters()) {
    all.push_back(parameter.tensor.value().clone());
  }
  return all;
}

// The parts of a run, for tests that take the steps themselves.
struct Stepping {
  explicit Stepping(LoadedRun run) : loaded(std::move(run)) {
    apply_settings(loaded.config);
    model = make_layer(loaded.config.model);
    optimizer = optimizer_registry().make(loaded.config.optimizer, model->parameters());
    model->train();
  }
  // variant: "", "--sgd", "--dropout".
  Stepping(const TempDir& folder, const std::string& variant)
      : Stepping(load_small(folder, sets(variant))) {}
  static std::vector<std::string> sets(const std::string& variant) {
    if (variant == "--sgd") return {"optimizer={type: sgd, lr: 1}"};
    if (variant == "--dropout") return {"model.dropout=0.2"};
    return {};
  }

  LoadedRun loaded;
  std::unique_ptr<Module> model;
  std::unique_ptr<Optimizer> optimizer;
};

// A process alone that sums a step by shards.
class OneOfShards final : public Workers {
 public:
  explicit OneOfShards(int64_t shards) : shards_(shards) {}
  std::unique_ptr<GradientSum> gradient_sum(const std::vector<NamedParameter>& parameters,
                                            const TrainConfig& config) override {
    return std::make_unique<GradientSum>(parameters, config.accumulate, shards_);
  }

 private:
  const int64_t shards_;
};

}  // namespace heed::testing
