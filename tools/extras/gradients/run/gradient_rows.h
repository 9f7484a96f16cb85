// Gradients, weights and updates over a run, as eval.gradients asks: gradients.csv in its folder,
// and lines of `heed train --json`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "train/run_hooks.h"

namespace heed {

// What one step did to a parameter; norms are Euclidean.
struct GradientRow {
  std::string parameter;
  double grad_norm = 0;    // of the mean loss of the step's batch, before clipping
  double weight_norm = 0;  // before the update
  double update_norm = 0;  // of what the update changed
};

// Measures the steps after which the validation set is evaluated. Between the gradients of such a
// step and its evaluation it keeps a copy of all weights.
class GradientRows : public RunHooks {
 public:
  using Config = NoFields;

  void on_begin(const RunInTraining& run, int64_t step) override;
  void on_gradients(int64_t step, double scale) override;
  void on_evaluation(int64_t step, const Evaluation& evaluation) override;
  void on_end(int64_t step, bool diverged) override;

 protected:
  virtual void begin(const std::filesystem::path& /*folder*/, int64_t /*step*/) {}
  virtual void add(int64_t step, const std::vector<GradientRow>& rows) = 0;

 private:
  void finish(int64_t step);

  Module* model_ = nullptr;  // null if the config does not ask
  int64_t every_ = 0, steps_ = 0;
  std::optional<int64_t> measured_;  // a step that is not finished
  std::vector<GradientRow> rows_;
  std::vector<Array> before_;
};

// step,parameter,grad_norm,weight_norm,update_norm; floats have nine significant digits.
class GradientFile final : public GradientRows {
 public:
  static constexpr const char* help = "gradients.csv";
  explicit GradientFile(const Config& = {}) {}
  std::string trouble() override { return std::exchange(trouble_, ""); }

 private:
  void begin(const std::filesystem::path& folder, int64_t step) override;
  void add(int64_t step, const std::vector<GradientRow>& rows) override;
  void attempt(const std::function<void()>& f);

  std::filesystem::path file_;
  std::string trouble_;
  bool given_up_ = false;
};
HEED_RUN_HOOKS(GradientFile, "gradients");

// {"event": "gradients", "step", "parameters": [{"parameter", "grad_norm", "weight_norm",
//  "update_norm"}]}
class GradientEvents final : public GradientRows {
 public:
  static constexpr const char* help = "the rows of gradients.csv for other programs";
  explicit GradientEvents(const Config& = {}) {}
  bool prints() const override { return true; }

 private:
  void add(int64_t step, const std::vector<GradientRow>& rows) override;
};
HEED_RUN_HOOKS(GradientEvents, "gradient_events");

}  // namespace heed
